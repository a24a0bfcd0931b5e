// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cloneSetLimits are the numbers of a spec, in pods. (CS-5, CS-6)
type cloneSetLimits struct {
	replicas, partition, surge, unavailable, scaleUnavailable int
	broken                                                    bool // the spec cannot be understood
}

func limitsOf(set *v1alpha1.CloneSet, features CloneSetFeatures) (l cloneSetLimits) {
	strategy := &set.Spec.UpdateStrategy
	l.replicas = int(ptr.Deref(set.Spec.Replicas, 1))
	number := func(value *intstr.IntOrString, unset intstr.IntOrString, up bool) int {
		return max(scaled(ptr.To(ptr.Deref(value, unset)), l.replicas, up, &l.broken), 0)
	}
	l.partition = max(heldBack(strategy.Partition, l.replicas, &l.broken), 0)
	l.surge = number(strategy.MaxSurge, intstr.FromInt32(0), true)
	if strategy.Paused && features.PauseWithoutSurge {
		l.surge = 0
	}
	l.unavailable = number(strategy.MaxUnavailable, intstr.FromString(v1alpha1.DefaultCloneSetMaxUnavailable), l.surge == 0)
	l.scaleUnavailable = number(set.Spec.ScaleStrategy.MaxUnavailable, intstr.FromInt32(math.MaxInt32), true)
	l.broken = l.broken || l.replicas < 0 || selectsNothing(set.Spec.Selector)
	return l
}

// scaled is a number, or a share of so many; 0 for nil. It tells if that is broken.
func scaled(value *intstr.IntOrString, of int, up bool, broken *bool) int {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, of, up)
	*broken = *broken || err != nil
	return n
}

// heldBack is how many of so many a partition holds back. A share of them is rounded up, but one of several is always left to update,
// unless it is 100%. (CS-5, DS-V3, SCS-30)
func heldBack(partition *intstr.IntOrString, of int, broken *bool) int {
	n := min(scaled(partition, of, true, broken), of)
	if partition != nil && partition.Type == intstr.String && partition.StrVal != "100%" && of > 1 && n == of {
		n--
	}
	return n
}

// selectsNothing tells whether a selector is none, or selects everything, or cannot be read.
func selectsNothing(s *metav1.LabelSelector) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return s == nil || err != nil || selector.Empty()
}

func matches(s *metav1.LabelSelector, of map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}

func preparingDelete(pod *corev1.Pod) bool {
	return stateOf(pod) == lifecyclev1alpha1.StatePreparingDelete
}

// awaitsEviction tells whether a client waits until a pod may be evicted. (LC-29)
func awaitsEviction(pod *corev1.Pod, now time.Time) bool {
	denied, err := time.Parse(time.RFC3339, pod.Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation])
	return err == nil && now.Before(denied.Add(5*time.Minute))
}

// isSpecified tells whether a user wants a pod to be deleted. (CS-4)
func (j *cloneSetJudge) isSpecified(pod *corev1.Pod) bool {
	return markedForDeletion(pod) || j.specified[pod.Name]
}

// updateRevision is the short hash of the revision of a template, the latest if
// there are several; empty if there is none. (CS-CR4, CS-CR5)
func updateRevision(template *corev1.PodTemplateSpec, revisions map[string]*appsv1.ControllerRevision) string {
	templates := templatesOf(revisions)
	for _, r := range slices.Backward(slices.SortedFunc(maps.Values(revisions), earlier)) {
		if t := templates[shortHash(r.Name)]; t != nil && equality.Semantic.DeepEqual(t, template) {
			return shortHash(r.Name)
		}
	}
	return ""
}

func earlier(a, b *appsv1.ControllerRevision) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// deletionRank decides which of two pods goes first: the one with the lower rank. It leaves out the rank among the pods
// of a node, which comes after. (CS-25)
func (j *cloneSetJudge) deletionRank(pod *corev1.Pod) []int {
	cost, _ := strconv.ParseInt(pod.Annotations[corev1.PodDeletionCost], 10, 32) // otherwise 0
	return []int{one(pod.Spec.NodeName != ""), phases[pod.Status.Phase], one(available(pod, j.set.Spec.MinReadySeconds, j.Observed.Now)),
		one(ready(pod)), int(cost)}
}

var phases = map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodUnknown: 1, corev1.PodRunning: 2}

// checkSurplus: of the pods of a class those go first that are worth least, and no
// more than are left over. Several may go at once, in any order. (CS-23, CS-25)
func (j *cloneSetJudge) checkSurplus(pod *corev1.Pod) {
	seen := j.Observed.Pods[pod.Name]
	if seen == nil || seen.UID != pod.UID {
		return
	}
	rank, total := j.deletionRank(seen), j.countPods(j.Observed, active)
	better := j.countPods(j.Observed, func(other *corev1.Pod) bool {
		return other.Name != seen.Name && j.countedOld(other) == j.countedOld(seen) && slices.Compare(j.deletionRank(other), rank) < 0
	})
	j.never(better >= total-j.limits.replicas, Order,
		"deletes pod %s, %d of %d are left over, and %d of its revision go before it", pod.Name, total-j.limits.replicas, total, better)
}

// checkTurn: pods that do not serve are updated before those that do. A strategy may say otherwise, and the reconcile
// may have tried them in vain. (CS-28, CS-31)
func (j *cloneSetJudge) checkTurn(pod *corev1.Pod, verb string) {
	strategy := &j.set.Spec.UpdateStrategy
	seen := j.Observed.Pods[pod.Name]
	if strategy.PriorityStrategy != nil || len(strategy.ScatterStrategy) > 0 || seen == nil || seen.UID != pod.UID || !j.old(seen) || preparesUpdate(seen) {
		return
	}
	better := j.countPods(j.Observed, func(other *corev1.Pod) bool {
		return other.Name != seen.Name && !j.Known.Failed[other.Name] && j.mayUpdate(other, j.Observed) && updateRank(other) < updateRank(seen)
	})
	most := max(j.limits.unavailable+max(j.countPods(j.Observed, active)-j.limits.replicas, 0), 1)
	j.never(better >= most, Order,
		"%s pod %s, %d pods that do not serve wait, at most %d can be updated at once", verb, pod.Name, better, most)
}

// updateRank is 0 for pods that do not run, 1 for those that are not ready.
func updateRank(pod *corev1.Pod) int {
	switch {
	case pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodRunning:
		return 0
	case !ready(pod):
		return 1
	}
	return 2
}

// mayUpdate tells whether a pod of an old revision is a candidate for the update,
// which no strategy, hook or broken record keeps from it.
func (j *cloneSetJudge) mayUpdate(pod *corev1.Pod, s *State) bool {
	if !j.owned(pod) || !active(pod) || !j.old(pod) || preparingDelete(pod) || j.isSpecified(pod) || inGrace(pod) {
		return false
	}
	if l := j.set.Spec.Lifecycle; l != nil && (holds(l.InPlaceUpdate, pod) || holds(l.PreDelete, pod)) {
		return false
	}
	return j.updatesInPlace(pod, s) || !j.inPlaceOnly()
}

// updatesInPlace tells whether a pod can be updated in place: nothing but images
// and metadata differs, and its record of updates can be read. (IP-1)
func (j *cloneSetJudge) updatesInPlace(pod *corev1.Pod, s *State) bool {
	templates := templatesOf(s.Revisions)
	from, to := templates[shortHash(pod.Labels[revisionLabel])], templates[j.update]
	if from == nil || to == nil || unreadable(pod) {
		return false
	}
	if j.features.InPlaceResize {
		return sameButImages(resized(&from.Spec, &to.Spec), &to.Spec)
	}
	return sameButImages(&from.Spec, &to.Spec)
}

func sameButImages(a, b *corev1.PodSpec) bool {
	rest := b.DeepCopy()
	for i := range min(len(a.Containers), len(rest.Containers)) {
		rest.Containers[i].Image = a.Containers[i].Image
	}
	return equality.Semantic.DeepEqual(a, rest)
}

// unreadable tells whether a user has spoilt what is written down about the in-place updates of a pod.
func unreadable(pod *corev1.Pod) bool {
	return slices.ContainsFunc([]string{inplacev1alpha1.StateAnnotation, inplacev1alpha1.LegacyStateAnnotation}, func(key string) bool {
		var record map[string]any
		text := pod.Annotations[key]
		return text != "" && json.Unmarshal([]byte(text), &record) != nil
	})
}
