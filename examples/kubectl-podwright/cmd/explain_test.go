// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// What is stored may be refused by now: by another release, or since no webhook answered. Then explain says the field, the value and the
// rule, as every other change of the spec waits for that. (KC-20)
func TestExplainRefused(t *testing.T) {
	for _, test := range []struct{ name, kind, spec, flags, want string }{
		{"CS-V11: a string without a percent sign may stay", "CloneSet", ", updateStrategy: {maxUnavailable: '30'}", "--release=1.9", ""},
		{"a partition that is no number", "CloneSet", ", updateStrategy: {partition: few}", "", `Refused: spec.updateStrategy.partition: Invalid value: "few": `},
		{"maxUnavailable of a StatefulSet", "StatefulSet", ", serviceName: web, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: few}}", "",
			`Refused: spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "few": `},
		{"a partition of a DaemonSet", "DaemonSet", ", updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: -1}}", "",
			`Refused: spec.updateStrategy.rollingUpdate.partition: Invalid value: "-1": `},
		{"nothing wrong", "DaemonSet", ", updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			c.create(strings.Replace(kindOf(test.kind, test.spec, "observedGeneration: 1"), "spec: {replicas: 5, ", map[bool]string{true: "spec: {", false: "spec: {replicas: 5, "}[test.kind == "DaemonSet"], 1))
			got := c.run(append([]string{"explain", strings.ToLower(test.kind) + "s.apps.kruise.io/web"}, strings.Fields(test.flags)...)...)
			if test.want != "" && !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "Refused:") || strings.Contains(got, "exit code") {
				t.Errorf("want %q:\n%s", test.want, got)
			}
		})
	}
}

// stuck is a situation in testdata/explain, as a change of the usual one. In the usual one, a workload has three ready
// pods of image nginx:1, and its template says nginx:2. The node is ready, and a manager and an agent run.
type stuck struct {
	// Kind of the workload; CloneSet if it is empty.
	Kind string
	// Workload, Pods and Nodes are merge patches of what there is, status included.
	Workload map[string]any
	Pods     map[string]map[string]any
	Nodes    map[string]map[string]any
	// Delete names pods that are deleted, or the workload.
	Delete []string
	// Objects are created beside; Without leaves the Lease of the manager or the pod of the agent out.
	Objects []map[string]any
	Without []string
	// Want is what explain prints.
	Want string
}

// (KC-20)
func TestExplain(t *testing.T) {
	files, err := filepath.Glob("testdata/explain/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d situations, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s stuck
			if err := yaml.UnmarshalStrict(data, &s); err != nil {
				t.Fatal(err)
			}
			c := newCluster(t)
			s.play(c)
			if got := c.run("explain", s.resource()+"/web"); got != s.Want {
				t.Errorf("it says\n%s\nwant\n%s", got, s.Want)
			}
		})
	}
}

// What may not be read is named, and the rest explained. (KC-20)
func TestExplainWithoutRights(t *testing.T) {
	c := newCluster(t)
	(&stuck{Workload: map[string]any{"spec": map[string]any{"updateStrategy": map[string]any{"paused": true}}}}).play(c)
	forbid(c, "leases", "nodes")
	got := c.run("explain", "cloneset/web")
	for _, want := range []string{"Paused (web-0, web-1, web-2)", "Could not be read:\nthe manager's Lease: ", "the nodes: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func (s *stuck) resource() string {
	if s.Kind == "" {
		s.Kind = "CloneSet"
	}
	return strings.ToLower(s.Kind) + "s.apps.kruise.io"
}

// play makes the situation.
func (s *stuck) play(c *cluster) {
	c.t.Helper()
	set := s.resource() + "/web"
	document := strings.Replace(kindOf(s.Kind, ", updateStrategy: {type: "+map[string]string{"CloneSet": "InPlaceIfPossible"}[s.Kind]+"}", "observedGeneration: 1, replicas: 3"), "replicas: 5", "replicas: 3", 1)
	pods(c, c.create(document).GetUID(), s.Kind, "web-0", "web-1", "web-2")
	c.create(`{apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {conditions: [{type: Ready, status: "True"}]}}`)
	around := map[string]string{
		"lease": `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kruise-manager, namespace: kruise-system}, spec: {leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`,
		"agent": `{apiVersion: v1, kind: Pod, metadata: {name: agent, namespace: kruise-system, labels: {app.kubernetes.io/name: podwright-nodeagent}},
			spec: {nodeName: node-1, containers: [{name: agent, image: x}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}`,
	}
	for _, name := range s.Without {
		delete(around, name)
	}
	for _, document := range around {
		c.create(document)
	}
	for _, object := range s.Objects {
		c.createObject(&unstructured.Unstructured{Object: object})
	}
	for name, patch := range s.Pods {
		c.patch("pods/"+name, patch)
	}
	for name, patch := range s.Nodes {
		c.patch("nodes/"+name, patch)
	}
	c.patch(set, s.Workload)
	if _, given, _ := unstructured.NestedFieldNoCopy(s.Workload, "status", "observedGeneration"); !given {
		c.patch(set, map[string]any{"status": map[string]any{"observedGeneration": c.field(set, "metadata", "generation")}})
	}
	for _, object := range s.Delete {
		client, name := c.named(object)
		if err := client.Namespace("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			c.t.Fatal(err)
		}
	}
}

// patch changes an object, and its status.
func (c *cluster) patch(object string, patch map[string]any) {
	c.t.Helper()
	resource, _, _ := strings.Cut(object, "/")
	client, name := c.named(object)
	scoped := client.Namespace("default")
	if resource == "nodes" || strings.HasPrefix(resource, "sidecarsets") {
		scoped = client
	}
	body, err := json.Marshal(patch)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, subresources := range [][]string{nil, {"status"}} {
		if _, ok := patch["status"]; !ok && subresources != nil {
			continue
		}
		if _, err := scoped.Patch(context.Background(), name, types.MergePatchType, body, metav1.PatchOptions{}, subresources...); err != nil {
			c.t.Fatal(err)
		}
	}
}

// forbid has the API server refuse users to read resources.
func forbid(c *cluster, resources ...string) {
	c.server.FailBefore(func(r fakecluster.Request) error {
		if r.User == "user" && slices.Contains(resources, r.Resource) {
			return apierrors.NewForbidden(schema.GroupResource{Resource: r.Resource}, r.Name, nil)
		}
		return nil
	})
}
