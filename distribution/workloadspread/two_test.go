// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-22: of two WorkloadSpreads of one workload the plan of one has the pods. The plan of the other one writes into none, counts
// none, and says which one has them.
func TestPlanOfTwo(t *testing.T) {
	now := metav1.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	earlier := metav1.NewTime(now.Add(-time.Second))
	named := func(name string, created metav1.Time, changes ...func(*v1alpha1.WorkloadSpread)) *v1alpha1.WorkloadSpread {
		ws := newSpread(t, name, "subsets: [{name: a, maxReplicas: 50%}, {name: c}]")
		ws.CreationTimestamp, ws.Spec.TargetReference.Name = created, "web"
		for _, change := range changes {
			change(ws)
		}
		return ws
	}
	goes := func(ws *v1alpha1.WorkloadSpread) { ws.DeletionTimestamp = &now }
	ofReplicaSet := func(ws *v1alpha1.WorkloadSpread) {
		ws.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1"}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1", UID: "1", Controller: new(true)}
	onNode := func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Phase = node.Name, corev1.PodRunning }
	for _, test := range []struct {
		name  string
		first *v1alpha1.WorkloadSpread // the one that the plan is for
		other *v1alpha1.WorkloadSpread
		has   bool
	}{
		{"created first", named("web", earlier), named("also", now), true},
		{"created later", named("also", now), named("web", earlier), false},
		{"created together, first by name", named("also", now), named("web", now), true},
		{"created together, second by name", named("web", now), named("also", now), false},
		{"the first is being deleted", named("web", now), named("also", earlier, goes), true},
		{"it is the first, and is being deleted", named("web", earlier, goes), named("also", now), false},
		{"both are being deleted, created first", named("web", earlier, goes), named("also", now, goes), true},
		{"both are being deleted, created later", named("web", now, goes), named("also", earlier, goes), false},
		{"it comes before one of a ReplicaSet", named("web", now), named("x", now, ofReplicaSet), true},
		{"it comes after one of a ReplicaSet", named("web", now), named("also", now, ofReplicaSet), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			pods := []*corev1.Pod{newPod("a", "a", owner, onNode), newPod("b", "", owner, onNode), newPod("c", "c", owner, onNode), newPod("d", "c", owner)}
			pods[2].Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = `{"name":"also","subset":"a"}`
			plan := NewPlan(&Snapshot{Spread: test.first, Others: []*v1alpha1.WorkloadSpread{test.other}, Pods: pods, Nodes: map[string]*corev1.Node{node.Name: node},
				Workload: &spread.Workload{GroupKind: spread.Deployments, Name: "web", Replicas: new(int32(4))}, Now: now.Time})
			replicas := int32(0)
			for _, s := range plan.Computed.Status.SubsetStatuses {
				replicas += s.Replicas
			}
			if has := len(plan.Patches) > 0; has != test.has || has != (replicas > 0) || len(plan.Problems) > 0 {
				t.Errorf("it counts %d pods, problems %v, and its plan is\n%s", replicas, plan.Problems, plan)
			}
			told := ""
			for _, h := range plan.Held {
				if h.Reason.Rule == ruleWorkloadTaken {
					told = h.Kind + " " + h.Name + ": " + h.Reason.Message
				}
			}
			want := "WorkloadSpread " + test.other.Name + ": it names Deployment web too, and comes first: this one has no pods"
			if test.other.Spec.TargetReference.Kind == "ReplicaSet" {
				want = "WorkloadSpread also: it names ReplicaSet web-1, which has pods of Deployment web, and comes first: this one has no pods"
			}
			if test.has || test.first.DeletionTimestamp != nil {
				want = ""
			}
			if told != want {
				t.Errorf("it says %q, want %q", told, want)
			}
		})
	}
}

// WS-22: two WorkloadSpreads of one workload settle. The second has the pods once the first is gone, without another event, and each
// pod is written once.
func TestTwoOfOneWorkload(t *testing.T) {
	deployment := v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	replicaSet := v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1"}
	for _, test := range []struct {
		name          string
		first, second v1alpha1.TargetReference
		says          string
	}{
		{"the same", deployment, deployment, "it names Deployment web too, and comes first: this one has no pods"},
		{"a ReplicaSet comes later", deployment, replicaSet, "it names Deployment web, which has pods of ReplicaSet web-1, and comes first: this one has no pods"},
		{"a ReplicaSet comes first", replicaSet, deployment, "it names ReplicaSet web-1, which has pods of Deployment web, and comes first: this one has no pods"},
	} {
		t.Run(test.name, func(t *testing.T) { playTwo(t, &test.first, &test.second, test.says) })
	}
}

func playTwo(t *testing.T, first, second *v1alpha1.TargetReference, says string) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, err := c.Kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, metav1.CreateOptions{})
		c.Must(err)
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 2)
		web := newSpread(t, "web", halves)
		web.Spec.TargetReference = first
		_, err = c.spreads.WorkloadSpreads("default").Create(t.Context(), web, metav1.CreateOptions{})
		c.Must(err)
		c.Sleep("1s")
		also := newSpread(t, "also", "subsets: [{name: x, maxReplicas: 1}, {name: z}]")
		also.Spec.TargetReference = second
		_, err = c.spreads.WorkloadSpreads("default").Create(t.Context(), also, metav1.CreateOptions{})
		c.Must(err)
		c.pod("p1", "", owner)
		c.pod("p2", "", owner)
		_, stop := c.start()
		defer stop()
		c.Sleep("2m")
		if got := c.admit(c.placer(), generated(owner)); got != "a" && got != "c" {
			t.Errorf("a new pod goes to subset %q", got)
		}
		names := func() (all string) {
			for _, pod := range c.Pods() {
				matched, _ := spread.Matched(&pod)
				all += matched.Name + "/" + matched.Subset + " "
			}
			return all
		}
		if got := names(); got != "web/a web/c " {
			t.Errorf("the pods are in %s", got)
		}
		if s := c.spread("also").Status.SubsetStatuses; len(s) != 2 || s[0].Replicas+s[1].Replicas != 0 || len(s[0].Conditions) != 1 ||
			s[0].Conditions[0].Message != "WorkloadSpread web: "+says {
			t.Errorf("the second says %v", s)
		}
		c.Sleep("1m") // the pod was not created
		c.ForgetRequests()
		if c.Sleep("10m"); len(c.Sent()) > 0 {
			t.Errorf("requests while nothing happens: %v", c.Sent())
		}
		c.Must(c.spreads.WorkloadSpreads("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("10s")
		if got := names(); got != "also/x also/z " {
			t.Errorf("once the first is gone, the pods are in %s", got)
		}
		if sent := c.Sent(); !slices.Contains(sent, "2 patch pods") {
			t.Errorf("requests: %v", sent)
		}
		if s := c.spread("also").Status.SubsetStatuses; s[0].Replicas != 1 || s[1].Replicas != 1 || len(s[0].Conditions) != 0 {
			t.Errorf("the second says then %v", s)
		}
	})
}

// WS-22: if a WorkloadSpread names a ReplicaSet that is not there, it conflicts with none. Once that is there, the one that comes first has
// its workload.
func TestReplicaSetThatComes(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		also := newSpread(t, "also", "subsets: [{name: x, maxReplicas: 1}, {name: z}]")
		also.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-2"}
		_, err := c.spreads.WorkloadSpreads("default").Create(t.Context(), also, metav1.CreateOptions{})
		c.Must(err)
		c.Sleep("1s")
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 2)
		c.createSpread("web", halves)
		c.pod("p1", "a", owner)
		_, stop := c.start()
		defer stop()
		p := c.placer()
		placed := func(owner metav1.OwnerReference) string { return c.admit(p, generated(owner)) }
		replicas := func() (n int32) {
			for _, s := range c.spread("web").Status.SubsetStatuses {
				n += s.Replicas
			}
			return n
		}
		if c.Sleep("2m"); replicas() != 1 || placed(owner) != "a" && placed(owner) != "c" {
			t.Errorf("before, %d pods count", replicas())
		}
		second := c.replicaSet("web", 2, 2)
		c.Sleep("2m")
		if got := c.spread("web").Status.SubsetStatuses[0].Conditions; replicas() != 0 || len(got) != 1 || got[0].Reason != string(ruleWorkloadTaken) {
			t.Errorf("then %d pods count, and it says %v", replicas(), got)
		}
		if got := placed(second); got != "x" {
			t.Errorf("a pod of the second ReplicaSet goes to %q", got)
		}
		if got := placed(owner); got != "" {
			t.Errorf("a pod of the first ReplicaSet goes to %q", got)
		}
	})
}
