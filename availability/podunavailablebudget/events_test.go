// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/workload"
)

var at = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// reading are options of a Reader of budgets, of the Deployment web and of its ReplicaSet.
func reading(deployment *appsv1.Deployment, replicaSet *appsv1.ReplicaSet, budgets ...metav1.Object) *Options {
	return &Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{
		ResourceBudgets: budgets, resourceOf(workload.Deployments): {deployment}, resourceOf(workload.ReplicaSets): {replicaSet}}}}
}

// webWorkloads are the Deployment web and the ReplicaSet web-1, which it controls.
func webWorkloads() (*appsv1.Deployment, *appsv1.ReplicaSet) {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"},
			Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "rs",
			OwnerReferences: []metav1.OwnerReference{ownerOf("apps/v1", "Deployment", "web", "web")}}, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(1))}}
}

// snapshotOf is what a plan for a budget of a Deployment of one pod depends on.
func snapshotOf(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, workloads ...*budget.Workload) *Snapshot {
	s := &Snapshot{Budget: b, Pods: []*corev1.Pod{pod}, Workloads: budget.Workloads{}, Mirror: MirrorAnnotated, Now: at}
	for _, w := range workloads {
		s.Workloads[w.UID] = w
	}
	return s
}

func describe(p *Plan) string {
	p.Status = nil // what it says is in Computed
	return fmt.Sprintf("%s\n%+v again after %s", p, p.Computed, p.RequeueAfter)
}

// webPod is a pod that serves, of the ReplicaSet web-1.
func webPod(changes ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1-a", UID: "pod", Labels: map[string]string{"app": "web"},
			Annotations:     map[string]string{v1alpha1.RelatedPubAnnotation: "web"},
			OwnerReferences: []metav1.OwnerReference{ownerOf("apps/v1", "ReplicaSet", "web-1", "rs")}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", ImageID: "nginx@sha256:aa", Ready: true}}},
	}
	return patches.Changed(words, pod, changes...)
}

// The filter of events against the planner itself: whatever changes about a pod, if that changes
// the plan of a budget, the budget is enqueued.
func TestEventsThatMatter(t *testing.T) {
	deployment, replicaSet := webWorkloads()
	reads := mutation.Reads{}
	for _, b := range []*v1alpha1.PodUnavailableBudget{
		newBudget("web", "1", "of=Deployment:web"), newBudget("web", "1", "app=web"),
		newBudget("web", "1", "app=web", "recorded"), newBudget("web", "0", "of=Deployment:web", "asks-for-mirror"),
	} {
		o := reading(deployment, replicaSet, b)
		o.Mirror = MirrorAnnotated
		for _, changes := range [][]string{nil, {"unlinked"}, {"pinned"}, {"updating"}, {"replaced"}, {"orphaned"}} {
			mutation.Plan[corev1.Pod]{
				What: "pod", Copy: (*corev1.Pod).DeepCopy,
				Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec\.Containers\[\]\.Image$|Status)`),
				Of: func(pod *corev1.Pod) string {
					return describe(NewPlan(snapshotOf(b, pod, workloadOf(deployment), workloadOf(replicaSet))))
				},
				Matters: mutation.Concerned(b.Name, podFields, o.podChanged),
			}.Check(t, reads, webPod(changes...))
		}
	}
	reads.Require(t, "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.Labels[app]", "pod.ObjectMeta.OwnerReferences[].UID", "pod.Status.Phase",
		"pod.Status.Conditions[].Status", "pod.Status.ContainerStatuses[].ImageID", "pod.Spec.Containers[].Image")
}

// Workloads that are scaled, come or go concern the budgets that name them, or what controls
// them, and all that select.
func TestWorkloadsThatMatter(t *testing.T) {
	o := Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{ResourceBudgets: {
		newBudget("deployment", "1", "of=Deployment:web"), newBudget("replicaset", "1", "of=ReplicaSet:web-1"),
		newBudget("selector", "1", "app=web"), newBudget("other", "1", "of=Deployment:other"),
	}}}}
	rs := func(change func(*appsv1.ReplicaSet)) metav1.Object {
		_, rs := webWorkloads()
		change(rs)
		return rs
	}
	is := rs(func(*appsv1.ReplicaSet) {})
	all := "default/deployment default/replicaset default/selector"
	mutation.CheckEvents(t, func(before, after metav1.Object, enqueue controller.Enqueue) {
		o.workloadChanged(controller.Event{Before: before, After: after}, enqueue)
	},
		mutation.On("it comes", nil, is, all),
		mutation.On("it goes", is, nil, all),
		mutation.On("it is scaled", is, rs(func(rs *appsv1.ReplicaSet) { rs.Spec.Replicas = new(int32(2)) }), all),
		mutation.On("it is being deleted", is, rs(func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: at} }), all),
		mutation.On("it is orphaned", is, rs(func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil }), all),
		mutation.On("its template changes", is, rs(func(rs *appsv1.ReplicaSet) { rs.Generation++ }), ""),
		mutation.On[metav1.Object]("one without an owner comes", nil,
			&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}, "default/selector"),
	)
}

// A cluster has many pods in namespaces without budgets, and they change often.
func TestPodsOfOthersCostNothing(t *testing.T) {
	o, before, after := Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{ResourceBudgets: nil}}}, webPod(), webPod()
	if n := testing.AllocsPerRun(100, func() { o.podChanged(before, after, func(types.NamespacedName) { t.Error("enqueued") }) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Owners that go round in circles end somewhere.
func TestOwnersInCircles(t *testing.T) {
	deployment, replicaSet := webWorkloads()
	deployment.OwnerReferences = []metav1.OwnerReference{ownerOf("apps/v1", "ReplicaSet", "web-1", "rs")}
	o := reading(deployment, replicaSet)
	if n := len(o.above(webPod())); n != workload.MostOwners {
		t.Errorf("%d owners", n)
	}
	r := &reconciler{options: *o}
	all, again, err := r.workloadsFor(t.Context(), newBudget("web", "1", "of=Deployment:web"), budget.Read(webPod()), time.Now())
	if len(all) != 2 || again > 0 || err != nil {
		t.Errorf("%v, %v, %v", all, again, err)
	}
}
