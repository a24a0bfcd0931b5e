// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The labels that name the revision of a pod.
const (
	revisionLabel     = "controller-revision-hash"
	templateHashLabel = "pod-template-hash"
)

// among are those of some for which something holds, in their order.
func among[T any](all iter.Seq[T], holds func(T) bool) (found []T) {
	for each := range all {
		if holds(each) {
			found = append(found, each)
		}
	}
	return found
}

// anyOf tells whether something holds for one of some.
func anyOf[T any](all iter.Seq[T], holds func(T) bool) bool { return len(among(all, holds)) > 0 }

// each are pointers to the elements of a list, which a loop would copy.
func each[T any](list []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// first is the first element of a list for which something holds; nil if there is none.
func first[T any](list []T, holds func(*T) bool) *T {
	for one := range each(list) {
		if holds(one) {
			return one
		}
	}
	return nil
}

// without is a list without an element.
func without[T comparable](list []T, element T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(each T) bool { return each == element })
}

// one is 1 if something holds, and 0 otherwise.
func one(holds bool) (n int) {
	count(&n, holds)
	return n
}

func namesOfPods(pods []*corev1.Pod) (names []string) {
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	return names
}

// annotated is what an annotation of a pod says in JSON; zero if that is nothing that can be read.
func annotated[T any](pod *corev1.Pod, key string) (value T) {
	_ = json.Unmarshal([]byte(pod.Annotations[key]), &value)
	return value
}

func stateOf(pod *corev1.Pod) lifecyclev1alpha1.StateType {
	return lifecyclev1alpha1.StateType(pod.Labels[lifecyclev1alpha1.StateLabel])
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func active(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !ended(pod) }

// newborn tells whether a pod was created a moment ago, and none of its containers has run.
func newborn(pod *corev1.Pod, now time.Time) bool {
	return now.Sub(pod.CreationTimestamp.Time) < time.Minute &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.ContainerID != "" || s.State.Running != nil || s.RestartCount > 0
		})
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	return first(pod.Status.Conditions, func(c *corev1.PodCondition) bool { return c.Type == t })
}

func ready(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return pod.Status.Phase == corev1.PodRunning && c != nil && c.Status == corev1.ConditionTrue
}

// updating tells whether an in-place update keeps a pod out of service.
func updating(pod *corev1.Pod) bool {
	c := condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	return c != nil && c.Status == corev1.ConditionFalse
}

// readyFor tells whether a pod is ready for so many seconds at least.
func readyFor(pod *corev1.Pod, seconds int32, now time.Time) bool {
	if !ready(pod) {
		return false
	}
	since := condition(pod, corev1.PodReady).LastTransitionTime
	return seconds <= 0 || !since.IsZero() && !since.Add(time.Duration(seconds)*time.Second).After(now)
}

// runs tells whether the containers of a pod run the images that its spec names, as far as the kubelet has said.
func runs(pod *corev1.Pod) bool {
	return first(pod.Status.ContainerStatuses, func(s *corev1.ContainerStatus) bool { return s.Image != image(&pod.Spec, s.Name) }) == nil
}

// normal tells whether no hook has taken a pod aside.
func normal(pod *corev1.Pod) bool {
	state := stateOf(pod)
	return state == "" || state == lifecyclev1alpha1.StateNormal
}

// serves tells whether nothing has taken a pod aside: no hook and no update.
func serves(pod *corev1.Pod) bool { return normal(pod) && !updating(pod) }

func inGrace(pod *corev1.Pod) bool {
	return pod.Annotations[inplacev1alpha1.GraceAnnotation] != "" || pod.Annotations[inplacev1alpha1.LegacyGraceAnnotation] != ""
}

// claimsIn are the names of the claims that a pod mounts.
func claimsIn(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

func mounts(pod *corev1.Pod, claim string) bool { return slices.Contains(claimsIn(pod), claim) }

// available tells whether a pod counts as available. (LC-15)
func available(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	return active(pod) && serves(pod) && readyFor(pod, minReadySeconds, now)
}

// onDeadNode tells whether a pod starts, changes and ends only if its node comes back or leaves.
func onDeadNode(s *State, pod *corev1.Pod) bool { return dead(s.Nodes[pod.Spec.NodeName]) }

// dead tells whether there is a node, and nothing is heard of it.
func dead(node *corev1.Node) bool {
	return node != nil && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnreachable })
}

// controls tells whether a UID is that of the controller of an object. One that only names it as an owner, so that it is
// collected with it, is another controller's.
func controls(uid types.UID, object metav1.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == uid
}

func owns(uid types.UID, object metav1.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool { return owner.UID == uid })
}

func image(spec *corev1.PodSpec, container string) string {
	c := first(spec.Containers, func(c *corev1.Container) bool { return c.Name == container })
	if c == nil {
		c = first(spec.InitContainers, func(c *corev1.Container) bool { return c.Name == container && native(c) })
	}
	return ptr.Deref(c, corev1.Container{}).Image
}

// updated tells whether a write of a pod takes it to another revision.
func updated(before, after *corev1.Pod) bool {
	return before != nil && after != nil && before.Labels[revisionLabel] != after.Labels[revisionLabel] && !takenBack(before, after)
}

// takenBack tells whether a write ends the update of a pod that is in service during its grace period. Nothing of
// the update is done yet. (IP-34)
func takenBack(before, after *corev1.Pod) bool {
	return inGrace(before) && !inGrace(after) && hasGate(before, inplacev1alpha1.InPlaceUpdateReady) && !updating(before) && !updating(after) &&
		before.Labels[revisionLabel] != after.Labels[revisionLabel] && equality.Semantic.DeepEqual(before.Spec, after.Spec)
}

// Mirror is what images of a mirror begin with, to which a webhook of others may rewrite those of pods.
const Mirror = "mirror.example.com/"

// unmirrored is the image that a mirror has under another name, or the image itself.
func unmirrored(image string) string { return strings.TrimPrefix(image, Mirror) }
