// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// waits has the update of StatefulSets wait for each pod that it is about and that is not ready. With inOrder it waits for all, as the
	// creation of those behind does. With paused others wait for ever.
	waits, inOrder, paused bool
	observed               int64
	has, ready             int32 // as its status says
}

func modelOf(object simulation.Object) *model {
	m := &model{Object: object}
	observe := func(kind schema.GroupVersionKind, replicas *int32, pods *corev1.PodTemplateSpec, observed int64, has, ready int32) {
		m.resource, m.replicas, m.pods = strings.ToLower(kind.Kind)+"s", int(ptr.Deref(replicas, 1)), pods
		m.owner, m.observed, m.has, m.ready = *metav1.NewControllerRef(object, kind), observed, has, ready
	}
	switch o := object.(type) {
	case *v1alpha1.CloneSet:
		observe(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), o.Spec.Replicas, &o.Spec.Template,
			o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas)
		m.paused = o.Spec.UpdateStrategy.Paused
		if p := o.Spec.UpdateStrategy.Partition; p != nil {
			m.partition, _ = intstr.GetScaledValueFromIntOrPercent(p, m.replicas, true)
		}
	case *appsv1.Deployment:
		observe(appsv1.SchemeGroupVersion.WithKind("Deployment"), o.Spec.Replicas, &o.Spec.Template,
			o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas)
		m.paused = o.Spec.Paused
	case *appsv1.StatefulSet:
		observe(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), o.Spec.Replicas, &o.Spec.Template,
			o.Status.ObservedGeneration, o.Status.Replicas, o.Status.ReadyReplicas)
		m.waits, m.inOrder = true, o.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
		if rolling := o.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
			m.partition = int(ptr.Deref(rolling.Partition, 0))
		}
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
	ordinal := simulation.Ordinal
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(b), ordinal(a)) })
	if !m.waits {
		m.runFreely(u, pods)
		return
	}
	made := false
	for i := range min(m.replicas, math.MaxInt16) {
		at := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return ordinal(pod) == i })
		if m.inOrder && (made || at >= 0 && !simulation.Ready(pods[at])) {
			return // for which it waits
		}
		if at < 0 && !slices.ContainsFunc(u.Pods(), func(pod *corev1.Pod) bool { return pod.Name == m.podName(i) }) {
			u.CreatePod(m.pod(i))
			made = true
		}
	}
	if made {
		return
	}
	stuck := slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return ordinal(pod) < m.replicas && ordinal(pod) >= m.partition && !simulation.Ready(pod)
	})
	for _, pod := range pods {
		switch at := ordinal(pod); {
		case at >= m.replicas:
		case stuck:
			return
		case at >= m.partition && m.old(pod):
		default:
			continue
		}
		u.DeletePod(pod.Name, nil)
		return
	}
}

// runFreely is run of CloneSets and Deployments. Of the pods that are too many those without a node go first, whatever their ordinals.
func (m *model) runFreely(u *simulation.User, pods []*corev1.Pod) {
	taken := map[string]bool{}
	for _, pod := range u.Pods() {
		taken[pod.Name] = true
	}
	made := false
	for range max(0, min(m.replicas, math.MaxInt16)-len(pods)) {
		free := 0
		for taken[m.podName(free)] {
			free++
		}
		taken[m.podName(free)], made = true, true
		u.CreatePod(m.pod(free))
	}
	if made {
		return
	}
	if len(pods) > m.replicas {
		slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
			return cmp.Compare(min(len(a.Spec.NodeName), 1), min(len(b.Spec.NodeName), 1))
		})
		u.DeletePod(pods[0].Name, nil)
		return
	}
	for _, pod := range pods {
		if m.old(pod) && !m.paused && simulation.Ordinal(pod) >= m.partition {
			u.DeletePod(pod.Name, nil)
			return
		}
	}
}

// old tells whether a pod is of another revision.
func (m *model) old(pod *corev1.Pod) bool {
	return pod.Labels[v1alpha1.SubsetRevisionLabel] != m.pods.Labels[v1alpha1.SubsetRevisionLabel]
}

func (m *model) podName(ordinal int) string { return fmt.Sprint(m.GetName(), "-", ordinal) }

func (m *model) pod(ordinal int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *m.pods.ObjectMeta.DeepCopy(), Spec: *m.pods.Spec.DeepCopy()}
	pod.Name, pod.Namespace, pod.OwnerReferences = m.podName(ordinal), simulation.Web.Namespace, []metav1.OwnerReference{m.owner}
	return pod
}
