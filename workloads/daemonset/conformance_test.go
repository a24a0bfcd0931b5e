// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
)

// suite is what the scenarios of a DaemonSet have in common: it runs on three nodes.
func suite(set, writes string, change func(c *conformance.Cluster, name string)) conformance.Subject {
	return conformance.Subject{
		Resource: setResource, Watches: []string{"daemonsets", "pods", "controllerrevisions", "nodes"},
		Writes:  append([]string{"create controllerrevisions", "create pods", "delete pods", "patch daemonsets/status"}, strings.FieldsFunc(writes, func(r rune) bool { return r == ',' })...),
		Unasked: map[string]string{"*": "TestConformanceInPlace makes use of them"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			workloads, kube := connect(c.Cluster, fixture.ControllerUser), c.Client(fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := Options{Kubernetes: kube, Workloads: workloads, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				DaemonSets: c.Share(client.NewDaemonSetInformer(workloads, "", 0, cache.Indexers{})),
				Pods:       c.Share(core.Pods()), Nodes: c.Share(core.Nodes()),
				Revisions: c.Share(core.Revisions())}
			return conformance.Made(tested, o, Rules(o))
		},
		Prepare: func(c *conformance.Cluster) { c.AddNodes(newNodes(3)...) },
		Create:  func(c *conformance.Cluster, name string) { c.Create(testSet(name), set) },
		Change:  change,
		Outcome: func(c *conformance.Cluster, name string) string { return outcome(c.Cluster, name) },
		Noise: func(c *conformance.Cluster, i int) {
			c.Heartbeat(i)
			for _, node := range []string{"n1", "n2"} {
				beat := fmt.Sprintf(`{"metadata":{"annotations":{"beat":"%d"}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:%02dZ"}],
					"images":[{"sizeBytes":%d}],"nodeInfo":{"bootID":"%d"}}}`, i, i, i, i)
				c.PatchNode(node, beat, "status")
			}
		},
		Strangers: func(c *conformance.Cluster, name string) { c.CreateStrangers(name) },
	}
}

// update changes the image of the template.
func update(c *conformance.Cluster, name string) {
	c.EditNamed(name, `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
}

// TestConformance recreates pods for an update. (DS-1, DS-11)
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Test(t, suite(`{"spec":{"revisionHistoryLimit":0,"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`, "delete controllerrevisions", update))
}

// TestConformanceInPlace updates pods in place. (DS-1, DS-13)
func TestConformanceInPlace(t *testing.T) {
	t.Parallel()
	k := suite(`{"spec":{"revisionHistoryLimit":0,"updateStrategy":{"rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":2}}}}`,
		"delete controllerrevisions,patch pods,patch pods/status", update)
	k.Unasked = map[string]string{
		"get apps.kruise.io/daemonsets":  "before an adoption the API server is asked for the DaemonSet",
		"patch apps/controllerrevisions": "the scenario goes back to no revision, and adopts none",
	}
	k.Writes = slices.DeleteFunc(k.Writes, func(write string) bool { return write == "delete pods" })
	conformance.Test(t, k)
}

// TestConformanceSurge updates pods by others beside them. (DS-1, DS-14)
func TestConformanceSurge(t *testing.T) {
	t.Parallel()
	conformance.Test(t, suite(`{"spec":{"revisionHistoryLimit":0,"minReadySeconds":1,"updateStrategy":{"rollingUpdate":{"maxSurge":2}}}}`, "delete controllerrevisions", update))
}

// TestConformanceOfNodes relabels a node, which fits the pod no more. (DS-1, DS-3)
func TestConformanceOfNodes(t *testing.T) {
	t.Parallel()
	conformance.Test(t, suite(`{"spec":{"template":{"spec":{"nodeSelector":{"zone":"a"}}}}}`, "",
		func(c *conformance.Cluster, _ string) {
			c.PatchNode("n1", `{"metadata":{"labels":{"zone":"b"}}}`)
		}))
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube, workloads := fixture.Connect(t, server, "test", kubernetes.NewForConfig), fixture.Connect(t, server, "test", client.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Workloads: workloads}, Required: "Kubernetes Workloads",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}
