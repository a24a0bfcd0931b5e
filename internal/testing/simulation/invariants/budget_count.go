// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// How long a pod that was booked counts as gone. (PUB-17)
const (
	deletionAwaited = 20 * time.Second
	updateAwaited   = 10 * time.Second
)

// budgetOf is the name of the budget that a pod names; empty for none.
func budgetOf(pod *corev1.Pod) string { return pod.Annotations[v1alpha1.RelatedPubAnnotation] }

// heldOut tells whether a label makes a pod count as unavailable.
func heldOut(pod *corev1.Pod) bool {
	return anyOf(maps.Keys(pod.Labels), func(key string) bool { return strings.HasPrefix(key, v1alpha1.UnavailablePodLabelPrefix) })
}

// servesBudget tells whether taking a pod down takes something away. (PUB-8)
func servesBudget(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && ready(pod) && !heldOut(pod)
}

// disrupts tells whether a change takes a pod down. (PUB-18)
func disrupts(before, after *corev1.Pod) bool {
	return !heldOut(before) && heldOut(after) || !equality.Semantic.DeepEqual(before.Spec, after.Spec)
}

// markedForDeletion tells whether the workload of a pod will delete it.
func markedForDeletion(pod *corev1.Pod) bool {
	_, marked := pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
	return marked
}

type podRecord struct {
	kind string // disruptedPods or unavailablePods
	uid  types.UID
	at   time.Time
	// since is when it was booked first, of the times that follow one another. (PUB-14.8)
	since time.Time
}

func (r podRecord) until() time.Time {
	if r.kind == "unavailablePods" {
		return r.at.Add(updateAwaited)
	}
	return r.at.Add(deletionAwaited)
}

func recordsOf(s *v1alpha1.PodUnavailableBudgetStatus) map[string]podRecord {
	records := map[string]podRecord{}
	add := func(kind string, booked map[string]metav1.Time) {
		for name, at := range booked {
			since, found := s.BookedSince[name]
			if !found {
				since = at
			}
			records[name] = podRecord{kind, s.PodUIDs[name], at.Time.UTC(), since.Time.UTC()}
		}
	}
	add("unavailablePods", s.UnavailablePods)
	add("disruptedPods", s.DisruptedPods)
	return records
}

// budgetView is what a budget is about, as an author sees it.
type budgetView struct {
	pods           []*corev1.Pod // active
	total, desired int32
	broken         bool            // the spec cannot be understood
	untold         map[string]bool // pods that are not yet
	now            time.Time       // by which containers have come up
}

// ownerAwaited is how long a pod may be seen before what controls it. (PUB-3)
const ownerAwaited = time.Minute

// viewBudget sees a budget with the pods and the CloneSet of a state. (PUB-1 to PUB-7, PUB-23)
//
// If totals are annotated, a number in the annotation is the total, whatever else holds. The pods of the CloneSet count. If it is
// gone, the pods of any CloneSet of that name count. (PUB-43)
func viewBudget(b *v1alpha1.PodUnavailableBudget, s *State, annotated bool) *budgetView {
	view := &budgetView{untold: map[string]bool{}, now: s.Now}
	set, _ := s.Beside["clonesets"].(*workloadsv1alpha1.CloneSet)
	wanted := int32(0)
	if set != nil && set.DeletionTimestamp == nil {
		wanted = max(ptr.Deref(set.Spec.Replicas, 1), 0)
	}
	oldest := map[types.UID]time.Time{} // of the pods of an owner
	for _, pod := range s.Pods {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && active(pod) && (b.Spec.TargetReference != nil || matches(b.Spec.Selector, pod.Labels)) {
			if at, found := oldest[owner.UID]; !found || pod.CreationTimestamp.Time.Before(at) {
				oldest[owner.UID] = pod.CreationTimestamp.Time
			}
		}
	}
	awaited := func(owner *metav1.OwnerReference) bool {
		return (set == nil || set.UID != owner.UID) && s.Now.Before(oldest[owner.UID].Add(ownerAwaited))
	}
	fixed, err := strconv.Atoi(b.Annotations[v1alpha1.PubProtectTotalReplicasAnnotation])
	annotated = annotated && err == nil
	gone := set == nil || set.DeletionTimestamp != nil
	unprotected, unknown := false, false
	if ref := b.Spec.TargetReference; ref != nil {
		known := ref.Kind == "CloneSet" && strings.HasPrefix(ref.APIVersion, workloadsv1alpha1.GroupName+"/") && set != nil && ref.Name == set.Name
		for _, pod := range s.Pods { // that one goes says nothing of another one of its name
			owner := metav1.GetControllerOfNoCopy(pod)
			known = known && !(gone && active(pod) && owner != nil && owner.Kind == ref.Kind && owner.Name == ref.Name && awaited(owner))
		}
		for _, pod := range s.Pods {
			owner := metav1.GetControllerOfNoCopy(pod)
			switch {
			case !active(pod) || owner == nil:
			case annotated && gone:
				if owner.Kind == ref.Kind && owner.Name == ref.Name {
					view.pods = append(view.pods, pod)
				}
			case known && owner.UID == set.UID && (annotated || wanted > 0):
				view.pods = append(view.pods, pod)
			case !known && owner.Kind == ref.Kind && owner.Name == ref.Name && awaited(owner):
				view.pods, unknown = append(view.pods, pod), true
			}
		}
		if view.total = wanted; !known {
			view.total = int32(len(view.pods))
		}
		unprotected = view.total == 0
	} else {
		counted, theirs, bare := false, int32(0), int32(0)
		for _, pod := range s.Pods {
			if !active(pod) || !matches(b.Spec.Selector, pod.Labels) {
				continue
			}
			view.pods = append(view.pods, pod)
			switch owner := metav1.GetControllerOfNoCopy(pod); {
			case owner == nil:
				bare++
			case awaited(owner):
				theirs++
			default:
				counted = true
				if set != nil && owner.UID == set.UID {
					view.total = wanted
				}
			}
		}
		unknown = theirs > 0
		switch {
		case err == nil && (view.total == 0 || unknown):
			view.total, unknown = int32(fixed), false
		case view.total == 0 && !unknown:
			view.total = bare
			unprotected = counted && bare == 0
		default:
			view.total += theirs
		}
	}
	if annotated {
		view.total, unknown, unprotected = int32(fixed), false, false
	}
	for _, pod := range view.pods {
		view.untold[pod.Name] = budgetOf(pod) != b.Name
	}
	view.desire(b)
	switch {
	case unprotected:
		view.desired = 0
	case unknown && (b.Spec.MinAvailable == nil || b.Spec.MinAvailable.Type == intstr.String):
		view.desired = max(view.desired, int32(len(view.pods)))
	}
	return view
}

// desire finds out how many pods have to be available. (PUB-6, PUB-7)
func (view *budgetView) desire(b *v1alpha1.PodUnavailableBudget) {
	share := func(value *intstr.IntOrString) int32 {
		if value.Type == intstr.Int {
			return value.IntVal
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(value.StrVal, "%"), 64)
		view.broken = view.broken || err != nil || !strings.HasSuffix(value.StrVal, "%")
		return int32(math.Ceil(percent * float64(view.total) / 100))
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		view.desired = max(view.total-share(b.Spec.MaxUnavailable), 0)
	case b.Spec.MinAvailable != nil:
		view.desired = share(b.Spec.MinAvailable)
	default:
		view.broken = true
	}
}

func (view *budgetView) pod(name string) *corev1.Pod {
	return view.find(func(pod *corev1.Pod) bool { return pod.Name == name })
}

func (view *budgetView) byUID(uid types.UID) *corev1.Pod {
	return view.find(func(pod *corev1.Pod) bool { return pod.UID == uid })
}

func (view *budgetView) find(is func(*corev1.Pod) bool) *corev1.Pod {
	if i := slices.IndexFunc(view.pods, is); i >= 0 {
		return view.pods[i]
	}
	return nil
}

// check: a status says what is seen, with the pods that were booked. (PUB-9, PUB-13)
func (view *budgetView) check(v *violations, s *v1alpha1.PodUnavailableBudgetStatus, bookings map[string]podRecord) {
	left := view.count()
	maps.DeleteFunc(left.seen, func(uid types.UID, _ bool) bool { return bookings[view.byUID(uid).Name].kind != "" })
	v.compare(s, &v1alpha1.PodUnavailableBudgetStatus{CurrentAvailable: int32(len(left.seen)), DesiredAvailable: view.desired,
		TotalReplicas: view.total, UnavailableAllowed: max(left.spare(nil), 0)})
	records := recordsOf(s)
	for name, want := range bookings {
		if got := records[name]; got.kind != want.kind || got.at.Unix() != want.at.Unix() && !want.at.After(got.at) || got.uid == "" {
			v.add(Status, "pod %s is %v in the records, want %v", name, got, want)
		}
	}
	for name := range records {
		v.never(bookings[name].kind == "", Status, "pod %s is in the records, and was not booked or its time is over", name)
	}
	for name := range s.BookedSince { // of those that wait
		if _, found := records[name]; !found {
			records[name] = podRecord{}
		}
	}
	v.never(len(s.PodUIDs) != len(records), Status, "%d UIDs of %d pods", len(s.PodUIDs), len(records))
}

type budgetCount struct {
	total, desired int32
	seen           map[types.UID]bool // those that serve, and whether they are marked for deletion
}

// count counts the pods that serve, but for those that are still to be told of their budget: no client asks before they go.
// (PUB-9)
func (view *budgetView) count() *budgetCount {
	c := &budgetCount{total: view.total, desired: view.desired, seen: map[types.UID]bool{}}
	for _, pod := range view.pods {
		available := servesBudget(pod) && runs(pod) && !inGrace(pod) && !unreadable(pod) && len(starting(pod, view.now)) == 0 // (PUB-10 to PUB-12, PUB-45)
		if available && !view.untold[pod.Name] {
			c.seen[pod.UID] = markedForDeletion(pod)
		}
	}
	return c
}

// left counts the pods that serve without those that were booked, and those of them that are not marked for deletion.
func (c *budgetCount) left(gone map[types.UID]budgetBooking) (all, unmarked int32) {
	for uid, marked := range c.seen {
		if _, went := gone[uid]; went {
			continue
		}
		all++
		count(&unmarked, !marked)
	}
	return all, unmarked
}

// spare is how many pods may go that are not marked for deletion. Marked pods stand in for pods that are missing, and
// for no others. (PUB-13)
func (c *budgetCount) spare(gone map[types.UID]budgetBooking) int32 {
	all, unmarked := c.left(gone)
	return min(all, max(unmarked, c.total)) - c.desired
}

// checkLast: one more may go, which may be marked for deletion. (PUB-14)
func (c *budgetCount) checkLast(v *violations, name string, marked bool, gone map[types.UID]budgetBooking) {
	all, _ := c.left(gone)
	spare := c.spare(gone)
	if marked {
		spare = all - c.desired
	}
	v.never(spare <= 0, Availability,
		"books pod %s, and of %d pods that serve and were not booked %d have to stay; %d in all", name, all, c.desired, c.total)
}

// BudgetServing judges what became of the pods of a budget when their users asked to take some of them down at once. It judges by the pods
// that served, as the kubelets showed them, and by the spec of the budget. It also judges by the number of pods that their owners want, as
// the users know it. What the status of the budget says does not matter. Allowed is how many of the pods asked about may go. (PUB-6, PUB-7,
// PUB-13)
func BudgetServing(b *v1alpha1.PodUnavailableBudget, wanted, served, asked, allowed int32) []Violation {
	var v violations
	view := &budgetView{total: wanted}
	view.desire(b)
	spare := max(served-view.desired, 0)
	if wanted == 0 {
		spare = served
	}
	spare = min(spare, asked)
	switch {
	case allowed > spare:
		v.add(Availability, "%d of %d pods that serve may go at once, and %d of the %d that are wanted have to stay", allowed, served, view.desired, wanted)
	case allowed < spare:
		v.add(Needless, "%d of %d pods that serve may go, and %d could: %d of the %d that are wanted have to stay", allowed, served, spare, view.desired, wanted)
	}
	return v
}
