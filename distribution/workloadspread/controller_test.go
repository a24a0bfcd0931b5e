// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestRequests pins what a WorkloadSpread costs: one request for a new pod, and one for the status of all
// that come at once. Once it is settled it costs none. (WS-23)
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.deployment("web", 30)
		owner := c.replicaSet("web", 1, 30)
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 50%}, {name: b}]")
		c.Sleep("1s")
		c.ForgetRequests()
		for i := range 30 {
			c.CreatePod(newPod(fmt.Sprint("web-", i), string("ab"[i%2]), owner, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
		}
		c.Sleep("2s")
		if diff := cmp.Diff([]string{"30 patch pods", "1 patch workloadspreads/status"}, c.Sent()); diff != "" {
			t.Errorf("new pods (-want +got) %s", diff)
		}
		for i := range 30 {
			c.run(fmt.Sprint("web-", i))
		}
		c.Sleep("2s")
		c.ForgetRequests()
		before := reconciles.Count()
		for i := range 10 {
			c.Heartbeat(i)
			c.Sleep("1m")
		}
		if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
			t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
		}
	})
}

// A pod that cannot be written or deleted does not hold up the others, and an event tells of it.
// (WS-23)
func TestFailures(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		c.deployment("web", 3)
		owner := c.replicaSet("web", 1, 3)
		c.FailBefore(fixture.Fail("patch pods", fixture.ErrInternal))
		c.createSpread("web", adaptive)
		c.pod("web-1", "a", owner)
		c.CreatePod(newPod("web-2", "a", owner))
		c.Sleep("2s")
		if got := c.Events.Count(v1alpha1.PatchPodDeletionCostFailedEvent); got == 0 {
			t.Errorf("no event: %q", c.Events.All())
		}
		if text := strings.Join(c.Events.All(), "\n"); !strings.Contains(text, "failed to patch deletion-cost annotation to 300 for Pod default/web-") || strings.Contains(text, "%!") {
			t.Errorf("events %s", text)
		}
		if got, want := describe(&c.spread("web").Status), "a has 2, misses 0; b has 0, misses 2; c has 0"; got != want {
			t.Errorf("status %q, want %q", got, want)
		}
		c.FailBefore(fixture.Fail("delete pods", fixture.ErrInternal))
		c.Sleep("1s")
		c.Events.Forget()
		c.stuck("web-2")
		c.Sleep("31s")
		want := "Warning DeletePodFailed: Failed to delete unschedulabe Pod default/web-2 in Subset a of WorkloadSpread default/web: Internal error occurred: injected"
		if got := c.Events.All(); len(got) == 0 || got[0] != want {
			t.Errorf("events %q, want %q", got, want)
		}
		c.FailBefore(nil)
		c.Sleep("2m")
		if got, want := describe(&c.spread("web").Status), "a has 1, misses 1, Schedulable False; b has 0, misses 2; c has 0"; got != want {
			t.Errorf("in the end: status %q, want %q", got, want)
		}
	})
}

// The targets, and what is read of them. (WS-1, WS-5, WS-8, WS-24)
func TestTargets(t *testing.T) {
	for _, test := range []struct{ name, path, object, target, want string }{
		{"a CloneSet", "apps.kruise.io/v1alpha1/clonesets", `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":4}}`,
			"apps.kruise.io/v1alpha1 CloneSet", "a has 1, misses 1; b has 0"},
		{"an Advanced StatefulSet", "apps.kruise.io/v1beta1/statefulsets", `{"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":4}}`,
			"apps.kruise.io/v1beta1 StatefulSet", "a has 1, misses 1; b has 0"},
		{"a StatefulSet", "apps/v1/statefulsets", `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":4}}`,
			"apps/v1 StatefulSet", "a has 1, misses 1; b has 0"},
		{"a ReplicaSet", "apps/v1/replicasets", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":4}}`,
			"apps/v1 ReplicaSet", "a has 1, misses 1; b has 0"},
		{"a Job", "batch/v1/jobs", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"web","namespace":"default"},"spec":{"parallelism":4}}`,
			"batch/v1 Job", "a has 1, misses 1; b has 0"},
		{"another kind", "apps/v1/deployments", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":4}}`,
			"apps/v1 DaemonSet", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				_, stop := c.start()
				defer stop()
				version, kind, _ := strings.Cut(test.target, " ")
				ws := newSpread(t, "web", "subsets: [{name: a, maxReplicas: 2}, {name: b}]")
				ws.Spec.TargetReference.APIVersion, ws.Spec.TargetReference.Kind = version, kind
				_, err := c.spreads.WorkloadSpreads("default").Create(t.Context(), ws, metav1.CreateOptions{})
				c.Must(err)
				c.Sleep("1s")
				uid := c.object(test.path, test.object)
				c.CreatePod(newPod("web-0", "a", metav1.OwnerReference{APIVersion: version, Kind: kind, Name: "web", UID: uid, Controller: new(true)}))
				c.Sleep("2s")
				if got := describe(&c.spread("web").Status); got != test.want {
					t.Errorf("status %q, want %q", got, test.want)
				}
				if got := c.Events.Count(v1alpha1.TargetReferenceErrorEvent); (got == 1) != (test.want == "") {
					t.Errorf("events %q", c.Events.All())
				}
			})
		})
	}
}

// A target of a kind that no cache reads is a failure, and not taken for one that is gone.
func TestUnreadTarget(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start(func(o *Options) { o.Workloads = nil })
		defer stop()
		ws := newSpread(t, "web", twoLimits)
		ws.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}
		_, err := c.spreads.WorkloadSpreads("default").Create(t.Context(), ws, metav1.CreateOptions{})
		c.Must(err)
		c.Sleep("1s")
		if err := errors.Join(reconciles.Errors()...); err == nil || !strings.Contains(err.Error(), "give Options.Workloads") {
			t.Errorf("error %v", err)
		}
		if len(c.spread("web").Status.SubsetStatuses) > 0 {
			t.Error("a status is written")
		}
	})
}

// counted is a SpreadMetrics.
type counted struct{ lines []string }

func (m *counted) Counted(namespace, name string, status *v1alpha1.WorkloadSpreadStatus) {
	m.lines = append(m.lines, namespace+"/"+name+": "+describe(status))
}

func (m *counted) Gone(namespace, name string) {
	m.lines = append(m.lines, namespace+"/"+name+" is gone")
}

func TestMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		metrics := &counted{}
		_, stop := c.start(func(o *Options) { o.SpreadMetrics = metrics })
		c.deployment("web", 3)
		c.createSpread("web", twoLimits)
		c.Sleep("1s")
		c.Must(c.spreads.WorkloadSpreads("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("1s")
		stop()
		if diff := cmp.Diff([]string{"default/web: a has 0, misses 2; b has 0, misses 2; c has 0", "default/web is gone"}, metrics.lines); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

func TestPlanNothing(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if p := NewPlan(s); len(p.Problems) == 0 || p.String() == "" {
			t.Errorf("problems %v", p.Problems)
		}
	}
	if p := NewPlan(&Snapshot{Spread: &v1alpha1.WorkloadSpread{}}); !p.Unrecognized || p.String() != v1alpha1.TargetReferenceErrorMessage {
		t.Errorf("WS-24: %s", p)
	}
}

// A pod that could not be taken to a subset is no reason to delete another one there. (WS-23)
func TestRefusedAdoption(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, err := c.Kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"zone": "a"}}}, metav1.CreateOptions{})
		c.Must(err)
		refused := true
		c.FailBefore(func(r fakecluster.Request) error {
			if refused && r.String() == "patch pods" && r.Name == "loose" {
				return fixture.ErrInternal
			}
			return nil
		})
		c.deployment("web", 3)
		rs := c.replicaSet("web", 1, 3)
		for _, name := range []string{"a1", "a2"} {
			c.CreatePod(newPod(name, "a", rs))
		}
		c.CreatePod(newPod("loose", "", rs, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
		c.createSpread("web", `subsets:
- {name: a, maxReplicas: 2, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}
- {name: b, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [b]}]}}`)
		_, stop := c.start()
		defer stop()
		c.Sleep("5s")
		if got := len(c.Pods()); got != 3 {
			t.Errorf("%d pods while it is refused, want 3", got)
		}
		refused = false
		c.Sleep("30s")
		if got := len(c.Pods()); got != 2 {
			t.Errorf("%d pods afterwards, want 2", got)
		}
	})
}

// A pod that could not be taken to a subset holds back deletions in that subset alone. (WS-23)
func TestRefusedAdoptionElsewhere(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, err := c.Kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"zone": "b"}}}, metav1.CreateOptions{})
		c.Must(err)
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "patch pods" && r.Name == "loose" {
				return fixture.ErrInternal
			}
			return nil
		})
		c.deployment("web", 4)
		rs := c.replicaSet("web", 1, 4)
		for _, name := range []string{"a1", "a2", "a3"} {
			c.CreatePod(newPod(name, "a", rs))
		}
		c.CreatePod(newPod("loose", "", rs, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
		c.createSpread("web", `subsets:
- {name: a, maxReplicas: 2, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}
- {name: b, maxReplicas: 1, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [b]}]}}
- {name: c, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [c]}]}}`)
		_, stop := c.start()
		defer stop()
		c.Sleep("5s")
		if got := len(c.Pods()); got != 3 {
			t.Errorf("%d pods, want 3: one of a is beyond its share, whatever becomes of b", got)
		}
	})
}
