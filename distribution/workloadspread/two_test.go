// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
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
