// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/readers"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

var at = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// reading are options of a Reader of PersistentPodStates.
func reading(states ...metav1.Object) Options {
	return Options{ControllerOptions: podwright.ControllerOptions{Reader: readers.Memory{resourceStates: states}}}
}

// webState is a PersistentPodState with a pod that ran on the node a1, and one that ran in zone-b.
func webState() *v1alpha1.PersistentPodState {
	return newState("web", requires(zone), func(s *v1alpha1.PersistentPodState) {
		s.Spec.PersistentPodAnnotations = []v1alpha1.PersistentPodAnnotation{{Key: "a"}}
		s.Status.PodStates = map[string]v1alpha1.PodState{
			"web-0": {NodeName: "a1", NodeTopologyLabels: map[string]string{zone: "zone-a"}},
			"web-1": {NodeName: "b9", NodeTopologyLabels: map[string]string{zone: "zone-b"}},
		}
	})
}

func webPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: "pod", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "web", Controller: new(true)}}},
		Spec: corev1.PodSpec{NodeName: "a1", Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1", Ready: true}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func waiting(pod *corev1.Pod) {
	pod.Spec.NodeName, pod.Spec.NodeSelector = "", map[string]string{zone: "zone-c"}
	pod.Annotations = map[string]string{v1alpha1.InjectedPersistentPodStateAnnotation: "web", v1alpha1.InjectedNodeSelectorAnnotation: zone}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
}

func webNode(name, zoneName string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name, zone: zoneName, "other": "x"}}}
}

// snapshotOf is what a plan for webState depends on.
func snapshotOf(s *v1alpha1.PersistentPodState, w *podstate.Workload, pod *corev1.Pod, nodes ...*corev1.Node) *Snapshot {
	snapshot := &Snapshot{State: s, Workload: w, Nodes: nodes, Now: at}
	if metav1.IsControlledBy(pod, &metav1.ObjectMeta{UID: "web"}) {
		snapshot.Pods = []*corev1.Pod{pod}
	}
	return snapshot
}

func describe(p *Plan) string {
	return fmt.Sprintf("%s\n%+v again after %s", p, p.Record.Status, p.RequeueAfter)
}

// The filter of events against the planner itself: whatever changes about a pod, if that changes the plan, the
// PersistentPodState is enqueued. (PPS-25)
func TestPodsThatMatter(t *testing.T) {
	s, w, reads := webState(), &podstate.Workload{Name: "web", UID: "web", Replicas: new(int32(0))}, mutation.Reads{}
	o := reading(s)
	for _, pod := range []*corev1.Pod{webPod(), webPod(waiting)} {
		mutation.Plan[corev1.Pod]{
			What: "pod", Copy: (*corev1.Pod).DeepCopy,
			Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec\.NodeName$|Status)`),
			Of: func(pod *corev1.Pod) string {
				return describe(NewPlan(snapshotOf(s, w, pod, webNode("a1", "zone-a"), webNode("b1", "zone-b"))))
			},
			Matters: mutation.Concerned(s.Name, podFields, o.podChanged),
		}.Check(t, reads, pod)
	}
	reads.Require(t, "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.Annotations[a]", "pod.ObjectMeta.OwnerReferences[].UID", "pod.Spec.NodeName",
		"pod.Status.Phase", "pod.Status.Conditions[].Status")
}

// A change of a node enqueues the PersistentPodState if it changes the plan.
func TestNodesThatMatter(t *testing.T) {
	s, w, reads := webState(), &podstate.Workload{Name: "web", UID: "web", Replicas: new(int32(2))}, mutation.Reads{}
	o := reading(s)
	plan := func(node *corev1.Node) string { return describe(NewPlan(snapshotOf(s, w, webPod(), node))) }
	for _, node := range []*corev1.Node{webNode("a1", "zone-a"), webNode("b1", "zone-b"), webNode("c1", "zone-c")} {
		mutation.Plan[corev1.Node]{
			What: "node", Copy: (*corev1.Node).DeepCopy, Can: regexp.MustCompile(`^\.(ObjectMeta\.(DeletionTimestamp|Labels|Annotations|Finalizers|OwnerReferences)|Spec|Status)`), Of: plan,
			Matters: mutation.Concerned(s.Name, controller.Labels, o.nodeChanged),
		}.Check(t, reads, node)
	}
	reads.Require(t, "node.ObjectMeta.Labels["+zone+"]")
	for name, want := range map[string]bool{"a1": true, "b9": true, "c1": false} {
		enqueued := false
		o.nodeChanged(webNode(name, "zone-c"), nil, func(types.NamespacedName) { enqueued = true })
		if enqueued != want {
			t.Errorf("PPS-25: a node %s that goes is enqueued: %t", name, enqueued)
		}
	}
}

// Workloads concern the PersistentPodStates that name them, and that which they ask for. (PPS-21, PPS-25)
func TestWorkloadsThatMatter(t *testing.T) {
	o := reading(newState("by-name", requires(host), targeting("apps.kruise.io/v1alpha1", "StatefulSet", "web")), newState("other", requires(host)))
	set := func(changes ...func(*workloadsv1beta1.StatefulSet)) *workloadsv1beta1.StatefulSet {
		set := &workloadsv1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web", Annotations: map[string]string{}}}
		for _, change := range changes {
			change(set)
		}
		return set
	}
	asking := func(s *workloadsv1beta1.StatefulSet) {
		s.Annotations[v1alpha1.AutoGeneratePersistentPodStateAnnotation] = "true"
	}
	on := mutation.On[metav1.Object]
	concern := func(before, after metav1.Object, enqueue controller.Enqueue) {
		o.workloadChanged(controller.Event{Before: before, After: after}, enqueue)
	}
	mutation.CheckEvents(t, concern,
		on("it appears", nil, set(), "default/by-name"),
		on("it goes", set(), nil, "default/by-name"),
		on("it asks for one", nil, set(asking), "default/by-name default/web"),
		on("it asks for none any more", set(asking), set(), "default/by-name default/by-name default/web"),
		on("another template", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.Generation++ }), ""),
		on("other annotations", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.Annotations["a"] = "b" }), ""),
		on("it is scaled", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.Spec.Replicas = new(int32(3)) }), "default/by-name default/by-name"),
		on("nil replicas are 1", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }), ""),
		on("ordinals are reserved", set(), set(func(s *workloadsv1beta1.StatefulSet) {
			s.Spec.ReserveOrdinals = []int{1}
		}), "default/by-name default/by-name"),
		on("it is being deleted", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.DeletionTimestamp = &metav1.Time{Time: at} }), "default/by-name default/by-name"),
		on("another one of its name", set(), set(func(s *workloadsv1beta1.StatefulSet) { s.UID = "2" }), "default/by-name default/by-name"),
		on("another topology", set(asking), set(asking, func(s *workloadsv1beta1.StatefulSet) {
			s.Annotations[v1alpha1.RequiredPersistentTopologyAnnotation] = zone
		}), "default/by-name default/by-name default/web default/web"),
	)
}
