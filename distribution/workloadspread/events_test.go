// SPDX-License-Identifier: Apache-2.0

package workloadspread

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
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/workload"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

var at = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// reading are options of a Reader of WorkloadSpreads, of the Deployment web and of its ReplicaSet.
func reading(deployment *appsv1.Deployment, replicaSet *appsv1.ReplicaSet, spreads ...metav1.Object) *Options {
	return &Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{
		resourceSpreads: spreads, resourceOf(workload.Deployments): {deployment}, resourceOf(workload.ReplicaSets): {replicaSet}}}}
}

// webWorkloads are the Deployment web and the ReplicaSet web-1, which it controls.
func webWorkloads() (*appsv1.Deployment, *appsv1.ReplicaSet) {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"}},
		&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "rs",
			OwnerReferences: []metav1.OwnerReference{*ownerOf("apps/v1", "Deployment", "web", "web")}}}
}

func ownerOf(version, kind, name, uid string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}
}

// webPod is a pod of the ReplicaSet web-1.
func webPod(subset string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := newPod("web-1-a", subset, *ownerOf("apps/v1", "ReplicaSet", "web-1", "rs"))
	pod.UID, pod.CreationTimestamp, pod.Spec.NodeName = "pod", metav1.NewTime(at.Add(-20*time.Second)), "node-1"
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true}}, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at.Add(-10 * time.Second))}, {Type: corev1.PodScheduled, Status: corev1.ConditionTrue}}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func waiting(pod *corev1.Pod) {
	pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
}

// The filter of events against the planner itself: whatever changes about a pod, if that changes
// the plan of a WorkloadSpread, that is enqueued.
func TestEventsThatMatter(t *testing.T) {
	web := &cached{Workload: spread.Workload{GroupKind: spread.Deployments, Name: "web", UID: "web", Replicas: new(int32(2)), Revision: "1"}, Owners: []types.UID{"rs"}}
	deployment, replicaSet := webWorkloads()
	reads := mutation.Reads{}
	other := webPod("a", func(pod *corev1.Pod) { // it is compared with the pod
		pod.Name, pod.UID = "web-1-0", "other"
		pod.Status.ContainerStatuses[0].RestartCount = 1
	})
	nodes := map[string]*corev1.Node{"node-1": {ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}}
	for _, spec := range []string{"subsets: [{name: a, maxReplicas: 1}, {name: b}]", "subsets: [{name: a, maxReplicas: 50%}, {name: b}]",
		"subsets: [{name: a, maxReplicas: 5}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 10}}"} {
		ws := newSpread(t, "web", spec)
		o := reading(deployment, replicaSet, ws)
		for _, pod := range []*corev1.Pod{webPod("a"), webPod(""), webPod("a", waiting), webPod("b", waiting)} {
			mutation.Plan[corev1.Pod]{
				What: "pod", Copy: (*corev1.Pod).DeepCopy,
				Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec\.NodeName$|Status)`),
				Of: func(pod *corev1.Pod) string {
					s := &Snapshot{Spread: ws, Workload: &web.Workload, Pods: []*corev1.Pod{other}, Nodes: nodes, Now: at}
					if controls("rs", pod) {
						s.Pods = append(s.Pods, pod)
					}
					p := NewPlan(s)
					return fmt.Sprintf("%s again after %s", p, p.RequeueAfter)
				},
				Matters: mutation.Concerned(ws.Name, podFields, o.podChanged),
			}.Check(t, reads, pod)
		}
	}
	reads.Require(t, "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.Annotations[apps.kruise.io/matched-workloadspread]", "pod.ObjectMeta.OwnerReferences[].UID",
		"pod.Status.Phase", "pod.Status.Conditions[].Status", "pod.Status.Conditions[].Reason", "pod.Spec.NodeName")
}

// Workloads that are scaled, come to another revision, come or go concern the WorkloadSpreads that name
// them, or what controls them.
func TestWorkloadsThatMatter(t *testing.T) {
	named := func(name, apiVersion, kind, workload string) *v1alpha1.WorkloadSpread {
		const spec = "{targetRef: {apiVersion: %s, kind: %s, name: %s}, subsets: [{name: a}]}"
		return newSpread(t, name, fmt.Sprintf(spec, apiVersion, kind, workload))
	}
	o := Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{resourceSpreads: {
		named("deployment", "apps/v1", "Deployment", "web"), named("replicaset", "apps/v1", "ReplicaSet", "web-1"),
		named("other", "apps/v1", "Deployment", "other"), named("cloneset", "apps.kruise.io/v1alpha1", "CloneSet", "web")}}}}
	rs := func(replicas int32, changes ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
		_, rs := webWorkloads()
		rs.Spec.Replicas = &replicas
		for _, change := range changes {
			change(rs)
		}
		return rs
	}
	cloneSet := func(revision string) *workloadsv1alpha1.CloneSet {
		return &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "cs"}, Status: workloadsv1alpha1.CloneSetStatus{UpdateRevision: revision}}
	}
	concern := func(before, after metav1.Object, enqueue controller.Enqueue) {
		o.workloadChanged(controller.Event{Before: before, After: after}, enqueue)
	}
	on := mutation.On[metav1.Object]
	const both, twice = "default/deployment default/replicaset", "default/deployment default/deployment default/replicaset default/replicaset"
	mutation.CheckEvents(t, concern,
		on("it comes", nil, rs(1), both),
		on("it goes", rs(1), nil, both),
		on("it is scaled", rs(1), rs(2), twice),
		on("it is being deleted", rs(1), rs(1, func(rs *appsv1.ReplicaSet) { rs.DeletionTimestamp = &metav1.Time{Time: at} }), twice),
		on("it is orphaned", rs(1), rs(1, func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil }), "default/deployment default/replicaset default/replicaset"),
		on("it is the latest", rs(1), rs(1, func(rs *appsv1.ReplicaSet) {
			rs.Annotations = map[string]string{"deployment.kubernetes.io/revision": "3"}
		}), twice),
		on("its template changes", rs(1), rs(1, func(rs *appsv1.ReplicaSet) { rs.Generation++ }), ""),
		on("another revision", cloneSet("1"), cloneSet("2"), "default/cloneset default/cloneset"),
		on("another status", cloneSet("1"), cloneSet("1"), ""),
		on("one that no WorkloadSpread names comes", nil, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}, ""),
	)
}

// A cluster has many pods in namespaces without WorkloadSpreads, and they change often.
func TestPodsOfOthersCostNothing(t *testing.T) {
	o, before, after := Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{resourceSpreads: nil}}}, webPod("a"), webPod("a")
	if n := testing.AllocsPerRun(100, func() { o.podChanged(before, after, func(types.NamespacedName) { t.Error("enqueued") }) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
