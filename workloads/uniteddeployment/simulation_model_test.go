// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// These are the resources of the workloads of subsets that are played.
const childCloneSets, childDeployments, childStatefulSets = "clonesets", "deployments", "statefulsets"

var playedKinds = []string{childCloneSets, childDeployments, childStatefulSets}

// model is a workload of a subset as the model of its controller sees it. All kinds name their pods by ordinals, and update
// from the highest on.
type model struct {
	simulation.Object
	resource  string
	owner     metav1.OwnerReference
	replicas  int
	partition int
	pods      *corev1.PodTemplateSpec
	// waits has the update wait for each pod that it is about and that is not ready. With inOrder it waits for all, as the
	// creation of those behind does. With paused it waits for ever.
	waits, inOrder, paused bool
	observed               int64
	has, ready             int32 // as its status says
	// byNode has pods without nodes go first, as of CloneSets and Deployments.
	byNode bool
}

func modelOf(object simulation.Object) *model {
	m := &model{Object: object}
	switch o := object.(type) {
	case *v1alpha1.CloneSet:
		m.resource, m.replicas, m.pods, m.paused = childCloneSets, int(ptr.Deref(o.Spec.Replicas, 1)), &o.Spec.Template, o.Spec.UpdateStrategy.Paused
		if p := o.Spec.UpdateStrategy.Partition; p != nil {
			m.partition, _ = intstr.GetScaledValueFromIntOrPercent(p, m.replicas, true)
		}
		m.observed, m.has, m.ready = o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas
		m.owner = *metav1.NewControllerRef(o, v1alpha1.SchemeGroupVersion.WithKind("CloneSet"))
	case *appsv1.Deployment:
		m.resource, m.replicas, m.pods, m.paused = childDeployments, int(ptr.Deref(o.Spec.Replicas, 1)), &o.Spec.Template, o.Spec.Paused
		m.observed, m.has, m.ready = o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas
		m.owner = *metav1.NewControllerRef(o, appsv1.SchemeGroupVersion.WithKind("Deployment"))
	case *appsv1.StatefulSet:
		m.resource, m.replicas, m.pods, m.inOrder = childStatefulSets, int(ptr.Deref(o.Spec.Replicas, 1)), &o.Spec.Template, o.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
		m.waits = true
		if rolling := o.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
			m.partition = int(ptr.Deref(rolling.Partition, 0))
		}
		m.observed, m.has, m.ready = o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas
		m.owner = *metav1.NewControllerRef(o, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	}
	return m
}

// models are all workloads of subsets, and those of others beside them.
func models(u *simulation.User) (all []*model) {
	for _, resource := range playedKinds {
		for _, object := range u.Objects(resource) {
			if object.GetDeletionTimestamp() == nil {
				all = append(all, modelOf(object))
			}
		}
	}
	return all
}

// runSome has the controller of a workload take a step, runAll those of all.
func runSome(u *simulation.User, r *rand.Rand) {
	if all := models(u); len(all) > 0 {
		all[r.IntN(len(all))].run(u)
	}
}

func runAll(u *simulation.User) {
	for _, m := range models(u) {
		m.run(u)
	}
}

// run does one thing. It reports, creates the pods that are missing, or deletes one that has ended, is too many, or is to be
// updated.
func (m *model) run(u *simulation.User) {
	m.byNode = m.byNode && !m.waits
	var pods []*corev1.Pod
	ready := int32(0)
	for _, pod := range u.Pods() {
		if m.waits && metav1.IsControlledBy(pod, m) && !simulation.Active(pod) && pod.DeletionTimestamp == nil {
			u.DeletePod(pod.Name, nil)
			return
		}
		if metav1.IsControlledBy(pod, m) && simulation.Active(pod) {
			pods = append(pods, pod)
			if simulation.Ready(pod) {
				ready++
			}
		}
	}
	if has := int32(len(pods)); m.observed != m.GetGeneration() || m.has != has || m.ready != ready {
		u.Patch(m.resource, m.GetName(), fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":%d,"readyReplicas":%d}}`, m.GetGeneration(), has, ready), "status")
		return
	}
	ordinal := func(pod *corev1.Pod) int32 {
		n := int32(simulation.Ordinal(pod))
		return n
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(b), ordinal(a)) })
	if m.byNode {
		m.runByNode(u, pods)
		return
	}
	made := false
	for i := range int32(min(m.replicas, math.MaxInt16)) {
		if at := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return ordinal(pod) == i }); m.inOrder && (made || at >= 0 && !simulation.Ready(pods[at])) {
			return // for which it waits
		}
		if !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return ordinal(pod) == i }) && !slices.ContainsFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == m.podName(i) }) {
			u.CreatePod(m.pod(i))
			made = true
		}
	}
	if made {
		return
	}
	stuck := m.waits && slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return int(ordinal(pod)) < m.replicas && int(ordinal(pod)) >= m.partition && !simulation.Ready(pod)
	})
	for _, pod := range pods {
		switch at := int(ordinal(pod)); {
		case at >= m.replicas:
		case stuck:
			return
		case !m.paused && at >= m.partition && pod.Labels[v1alpha1.SubsetRevisionLabel] != m.pods.Labels[v1alpha1.SubsetRevisionLabel]:
		default:
			continue
		}
		u.DeletePod(pod.Name, nil)
		return
	}
}

func (m *model) podName(ordinal int32) string { return fmt.Sprint(m.GetName(), "-", ordinal) }

func (m *model) pod(ordinal int32) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *m.pods.ObjectMeta.DeepCopy(), Spec: *m.pods.Spec.DeepCopy()}
	pod.Name, pod.Namespace, pod.OwnerReferences = m.podName(ordinal), simulation.Web.Namespace, []metav1.OwnerReference{m.owner}
	return pod
}
