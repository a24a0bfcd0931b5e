// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// The manager, told to behave as the release does, adopts what OpenKruise leaves on a real API server. That includes definitions,
// webhook configurations, the Lease and programs. No pod restarts, and none is written to but by a rule that the data name. No revision
// and no job is made, and what is in mid-way ends. With -short the cluster of 1.9 alone is taken over. (KC-26, PF-4, PF-5, PF-5.3)
func TestTakeOverOnARealControlPlane(t *testing.T) {
	l := newLive(t)
	all := slices.Sorted(maps.Keys(releases)) // 1.9 is the last: no release before has definitions for what it stores
	if testing.Short() {
		all = all[len(all)-1:]
	}
	for _, release := range all {
		t.Run(release, func(t *testing.T) { l.as(t).takesOver(release) })
	}
}

// live is a real control plane, in which one release after the other leaves its objects.
type live struct {
	site
	control   *cluster.Cluster
	namespace string // in the place of the namespace shop
	noon      time.Time
}

func newLive(t *testing.T) *live {
	t.Helper()
	delay := 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	control, err := cluster.Start(ctx, cluster.Options{Log: t.Output(), Nodes: -1, StartDelay: &delay, Audit: true,
		AuditUsers: []string{"system:serviceaccount:kruise-system:" + testbed.ManagerProgram}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := control.Stop(); err != nil {
			t.Error(err)
		}
	})
	l := &live{control: control}
	kube := kubernetes.NewForConfigOrDie(control.Config())
	for i, name := range []string{"node-1", "node-2"} {
		node := cluster.NewNode(name, "", i)
		if name == "node-2" { // it has the pods that the data put there, and no others
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
		if _, err := kube.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// as is the same control plane in a subtest.
func (l *live) as(t *testing.T) *live {
	t.Helper()
	again := &live{control: l.control, noon: time.Now().Add(-10 * time.Minute).Truncate(time.Minute)}
	namespace, err := cluster.NewNamespace(t.Context(), kubernetes.NewForConfigOrDie(l.control.Config()), "shop-")
	if err != nil {
		t.Fatal(err)
	}
	again.namespace = namespace
	again.site = site{T: t, ctx: t.Context(), uids: map[string]types.UID{}, real: true, dynamic: dynamic.NewForConfigOrDie(l.control.Config())}
	return again
}

// takesOver plays one release from what it leaves to the end of the take-over.
func (l *live) takesOver(release string) {
	l.Helper()
	webhook := httptest.NewTLSServer(conversionWebhook())
	l.installs(release, webhook)
	refuse := l.leaves(release)
	l.awaitPods()
	l.leave(refuse)
	l.resizes()
	l.checks(release)
	webhook.Close() // with OpenKruise
	pods, revisions, jobs := l.pods(), l.names("ControllerRevision"), l.names("Job", "BroadcastJob")
	stop, written := l.starts(release)
	l.eventually("the end of the take-over", func() error { return l.over() })
	l.eventually("a look at every workload", l.looked())

	pods["moving-old33"].restarts++ // the rollout goes on
	if diff := cmp.Diff(show(pods), show(l.pods())); diff != "" {
		l.Errorf("pods have come, gone or restarted (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(revisions, l.names("ControllerRevision")); diff != "" {
		l.Errorf("revisions (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(jobs, l.names("Job", "BroadcastJob")); diff != "" {
		l.Errorf("jobs: a time runs twice, or a job is gone (-before +after):\n%s", diff)
	}
	if err := stop(); err != nil {
		l.Errorf("the manager ends with %v", err)
	}
	l.wrote(release, written())
	l.handsBack(release)
	l.cleans()
}

// change puts the data into this control plane: another namespace, other times, and what keeps Jobs running or a wait short.
func (l *live) change(text string) string {
	shift := l.noon.Sub(noon)
	text = regexp.MustCompile(`\bshop\b`).ReplaceAllString(text, l.namespace)
	text = regexp.MustCompile(`2026-0[123]-\d\dT\d\d:\d\d:\d\d`).ReplaceAllStringFunc(text, func(at string) string {
		parsed, err := time.Parse("2006-01-02T15:04:05", at)
		l.must(err)
		return parsed.Add(shift).Format("2006-01-02T15:04:05")
	})
	text = regexp.MustCompile(`-1772\d{6}\b`).ReplaceAllStringFunc(text, func(suffix string) string {
		seconds, err := strconv.ParseInt(suffix[1:], 10, 64)
		l.must(err)
		return fmt.Sprintf("-%d", time.Unix(seconds, 0).Add(shift).Unix())
	})
	for schedule, hour := range map[string]int{`"0 0 * * *"`: 0, `"0 3 * * *"`: 3} { // the next time is far away
		last := noon.Add(time.Duration(hour-12) * time.Hour).Add(shift).Local()
		text = strings.ReplaceAll(text, schedule, fmt.Sprintf(`"%d %d * * *"`, last.Minute(), last.Hour()))
	}
	text = strings.ReplaceAll(text, `"0 * * * *"`, fmt.Sprintf(`"%d * * * *"`, l.noon.Local().Minute()))
	for old, new := range map[string]string{"backup:1": "backup:forever", "scan:1": "scan:forever", "activeDeadlineSeconds: 300": "activeDeadlineSeconds: 3"} {
		text = strings.ReplaceAll(text, old, new)
	}
	return text
}

// installs installs the definitions of a release. 1.9 comes over those of 1.8, whose objects were stored as v1alpha1.
func (l *live) installs(release string, webhook *httptest.Server) {
	l.Helper()
	all := []string{release}
	if release == "1.9" {
		all = []string{"1.8", "1.9"}
	}
	definitions := readDefinitions(l.T)
	for _, one := range all {
		for _, d := range definitions {
			if d.stored(one) != "" {
				l.eventually("the definition "+d.name, func() error { return l.apply(converting(d.crd(one), webhook)) })
			}
		}
	}
	l.eventually("the kinds of OpenKruise "+release, func() error {
		groups, err := restmapper.GetAPIGroupResources(discovery.NewDiscoveryClientForConfigOrDie(l.control.Config()))
		if err != nil {
			return err
		}
		l.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		for _, d := range definitions {
			_, group, _ := strings.Cut(d.name, ".")
			if version := d.stored(release); version != "" {
				mapping, err := l.mapper.RESTMapping(schema.GroupKind{Group: group, Kind: d.kind})
				if err != nil {
					return err
				}
				if mapping.GroupVersionKind.Version != version {
					return fmt.Errorf("%s is preferred of %s, want %s", mapping.GroupVersionKind.Version, d.kind, version)
				}
				if _, err := l.dynamic.Resource(mapping.Resource).List(l.ctx, metav1.ListOptions{Limit: 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// converting has a definition that is converted by a webhook name a server of the test.
func converting(crd *unstructured.Unstructured, webhook *httptest.Server) *unstructured.Unstructured {
	conversion := crd.Object["spec"].(map[string]any)["conversion"].(map[string]any)
	if called, is := conversion["webhook"].(map[string]any); is {
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
		called["clientConfig"] = map[string]any{"url": webhook.URL + "/convert", "caBundle": base64.StdEncoding.EncodeToString(authority)}
	}
	return crd
}

var definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// apply creates a definition, or writes over the spec of the one that is there.
func (l *live) apply(crd *unstructured.Unstructured) error {
	client := l.dynamic.Resource(definitionsResource)
	found, err := client.Get(l.ctx, crd.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = client.Create(l.ctx, crd, metav1.CreateOptions{})
		return err
	}
	if err == nil {
		found.Object["spec"] = crd.Object["spec"]
		_, err = client.Update(l.ctx, found, metav1.UpdateOptions{})
	}
	return err
}

// leaves stores the objects of a release, and returns those that refuse what Kubernetes' own controllers still have to create.
func (l *live) leaves(release string) (refuse []*unstructured.Unstructured) {
	l.Helper()
	objects := slices.DeleteFunc(read(l.T, l.change, filesOf(release)...), func(u *unstructured.Unstructured) bool {
		return slices.Contains([]string{"Node", "CustomResourceDefinition"}, u.GetKind()) || u.GetKind() == "Namespace" && l.get(u.GroupVersionKind().GroupKind(), "", u.GetName()) != nil
	})
	isWebhook := func(u *unstructured.Unstructured) bool { return strings.HasSuffix(u.GetKind(), "WebhookConfiguration") }
	for _, u := range objects {
		if isWebhook(u) {
			refuse = append(refuse, u)
		}
	}
	l.leave(slices.DeleteFunc(objects, isWebhook))
	return refuse
}
