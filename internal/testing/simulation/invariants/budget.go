// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

const budgetResource = "podunavailablebudgets"

type podBudget = v1alpha1.PodUnavailableBudget

// budgets are what has become of PodUnavailableBudgets: what was counted, who was booked since, and
// what was answered. Of their status only the records are read, which say who was booked.
type budgets struct {
	counted  map[types.UID]*budgetCount                // when it was counted last, by the budget
	bookings map[types.UID]map[types.UID]budgetBooking // by the budget and the pod
	booked   []bookedPod                               // in order
	allowed  map[allowance]bool                        // that are still to come
	marked   map[types.UID]bool                        // the pods that are marked for deletion

	annotated bool // totals are what an annotation says
}

// AnnotateTotals says that the annotation of a budget says its total, whatever its workloads want. (PUB-43)
func (p *Past) AnnotateTotals() { p.budgets.annotated = true }

// observe takes note of pods that are marked for deletion.
func (b *budgets) observe(c *Change) {
	if pod, ok := c.After.(*corev1.Pod); ok {
		b.marked[pod.UID] = markedForDeletion(pod)
	}
}

// allowance is an operation on a pod.
type allowance struct {
	pod       types.UID
	operation string
}

// budgetBooking is when a pod was booked, and until when it counts as gone.
type budgetBooking struct{ at, until time.Time }

// bookedPod tells who booked a pod, and how far the API server was before. It also tells what is wrong with that. The latter
// does not count if the pod was out of service and did not have to be booked.
type bookedPod struct {
	by      string
	pod     types.UID
	version int64
	at      time.Time
	wrong   violations
}

// Budget judges a write of the controller of PodUnavailableBudgets.
func (p *Past) Budget(w *Write) []Violation {
	var v violations
	checkPrecise(&v, w)
	switch {
	case w.Resource == "pods":
		p.checkLink(&v, w)
	case w.Resource != budgetResource || w.Subresource != "status":
		v.add(Ownership, "%s of %s %s", w.Verb, w.Resource, w.name())
	case w.Known != nil:
		p.checkCount(&v, w)
	}
	return v
}

// checkLink: a pod of the budget is told that it is, if it was told nothing, and nothing else about it
// changes. (PUB-24)
func (p *Past) checkLink(v *violations, w *Write) {
	before, after := w.pods()
	if v.wrong(before == nil || after == nil, Ownership, "%s of pod %s", w.Verb, w.name()) {
		return
	}
	checkOnlyNamed(v, before, after)
	v.never(budgetOf(before) != "" && budgetOf(after) != budgetOf(before), Ownership,
		"changes pod %s, which names budget %q, more than it may", before.Name, budgetOf(before))
	known, _ := w.spec().(*v1alpha1.PodUnavailableBudget)
	if known == nil || w.Known == nil {
		return
	}
	view := viewBudget(known, w.Known, p.budgets.annotated)
	v.never(view.pod(before.Name) == nil || budgetOf(after) != known.Name, Ownership,
		"tells pod %s that it belongs to budget %s, and it does not", before.Name, budgetOf(after))
}

// checkOnlyNamed: nothing of a pod changes but the budget that it names. (PUB-24)
func checkOnlyNamed(v *violations, before, after *corev1.Pod) {
	want := before.DeepCopy()
	want.ResourceVersion, want.ManagedFields = after.ResourceVersion, after.ManagedFields
	metav1.SetMetaDataAnnotation(&want.ObjectMeta, v1alpha1.RelatedPubAnnotation, budgetOf(after))
	if budgetOf(after) == "" {
		delete(want.Annotations, v1alpha1.RelatedPubAnnotation)
	}
	v.never(!equality.Semantic.DeepEqual(want, after), Ownership,
		"changes more of pod %s than the budget that it names", before.Name)
}

// checkCount: a status says what its author saw, and forgets no pod that was booked while that
// counts. (PUB-3 to PUB-9, PUB-13, PUB-16, PUB-17)
func (p *Past) checkCount(v *violations, w *Write) {
	known, _ := w.Known.Workload.(*v1alpha1.PodUnavailableBudget)
	after, _ := w.After.(*v1alpha1.PodUnavailableBudget)
	if known == nil || after == nil || known.UID != after.UID {
		return
	}
	view := viewBudget(known, w.Known, p.budgets.annotated)
	if v.wrong(view.broken, Status, "counts, though the spec cannot be read") {
		return
	}
	if w.Observed != nil { // it counts before it tells them
		view.untold = viewBudget(known, w.Observed, p.budgets.annotated).untold
	}
	records := recordsOf(&known.Status)
	maps.DeleteFunc(records, func(name string, r podRecord) bool {
		pod := view.pod(name)
		return pod == nil || r.uid != "" && r.uid != pod.UID || r.until().Before(w.Known.Now)
	})
	view.check(v, &after.Status, records)
	count := view.count()
	for uid, booking := range p.budgets.bookings[after.UID] {
		switch pod := view.byUID(uid); {
		case pod == nil || booking.until.Before(w.Known.Now):
			delete(p.budgets.bookings[after.UID], uid)
		case recordsOf(&after.Status)[pod.Name].kind == "":
			v.add(Availability, "forgets that pod %s was booked at %s", pod.Name, booking.at.UTC().Format("15:04:05"))
		}
	}
	p.budgets.counted[after.UID] = count
}

// BudgetWitness judges a write of any other author, as far as budgets are concerned.
func (p *Past) BudgetWitness(w *Write) []Violation {
	var v violations
	switch {
	case w.Resource == budgetResource && w.Subresource == "status":
		p.checkBooking(&v, w)
	case w.Resource == "pods":
		p.checkDisruption(&v, w)
	}
	return v
}

// checkBooking: who books a pod says which one, when and since when. It is a booking as well if only the last one changes: a pod
// that stayed booked is booked anew in the same second. As many stay as have to, of those that were seen available when the
// budget was counted last and were not booked since. The pods that replace those that are marked for deletion let no others go;
// one may have been marked since then. (PUB-13 to PUB-17)
func (p *Past) checkBooking(v *violations, w *Write) {
	before, after := objects[*v1alpha1.PodUnavailableBudget](w)
	if v.wrong(before == nil || after == nil, Ownership, "%s of the budget", w.Verb) {
		return
	}
	old, booked := recordsOf(&before.Status), recordsOf(&after.Status)
	for name := range old {
		v.never(booked[name].kind == "", Availability, "forgets pod %s", name)
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(booked)), func(name string) bool { return booked[name] == old[name] })
	v.never(len(names) != 1, Status, "books %d pods at once: %q", len(names), names)
	for _, name := range names {
		checkSince(v, name, old[name], booked[name])
		p.book(v, w, after, name, booked[name])
	}
}

// checkSince: a pod that is booked again says since when it is. It is booked anew when it was for a minute. (PUB-14.8, PUB-16)
func checkSince(v *violations, name string, old, r podRecord) {
	switch {
	case old.kind == "": // it may have waited for others
	case r.since.Equal(r.at) && (old.uid != r.uid || r.at.Sub(old.since) >= bookedAgain):
	case old.uid == r.uid && r.since.Equal(old.since):
	default:
		v.add(Status, "books pod %s since %s, and one of its name was since %s", name, r.since.Format("15:04:05"), old.since.Format("15:04:05"))
	}
}

func (p *Past) book(v *violations, w *Write, b *v1alpha1.PodUnavailableBudget, name string, r podRecord) {
	now := w.Truth.Now
	if v.wrong(r.uid == "", Identity, "books pod %s without a UID, so that the next one of its name may go too", name) {
		return
	}
	v.never(r.at.After(now), Status, "books pod %s at %s, which is still to come", name, r.at.UTC().Format("15:04:05"))
	var wrong violations
	gone := p.budgets.bookings[b.UID]
	if gone == nil {
		gone = map[types.UID]budgetBooking{}
		p.budgets.bookings[b.UID] = gone
	}
	_, again := gone[r.uid]
	count := p.budgets.counted[b.UID]
	switch {
	case count == nil:
		wrong.add(Availability, "books pod %s before anybody has counted", name)
	case again:
	default:
		count.checkLast(&wrong, name, count.seen[r.uid] || p.budgets.marked[r.uid], gone)
	}
	gone[r.uid] = budgetBooking{r.at, r.until()}
	p.budgets.booked = append(p.budgets.booked, bookedPod{w.By, r.uid, w.Truth.Version, r.at, wrong})
}

// checkDisruption: a pod that is in service is taken down after that was allowed. (PUB-14)
func (p *Past) checkDisruption(v *violations, w *Write) {
	before, after := w.pods()
	if before == nil || budgetOf(before) == "" || before.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true" || !servesBudget(before) {
		return
	}
	operations := []string{"UPDATE"}
	switch {
	case after == nil || after.DeletionTimestamp != nil:
		operations = []string{"DELETE", "EVICT"}
	case !disrupts(before, after):
		return
	}
	for _, operation := range operations {
		if allowed := (allowance{before.UID, operation}); p.budgets.allowed[allowed] {
			delete(p.budgets.allowed, allowed)
			return
		}
	}
	v.add(Availability, "takes pod %s down, and no answer has allowed it", before.Name)
}

// BudgetSettled judges a budget that has settled.
func (p *Past) BudgetSettled(s *State, _ bool) []Violation {
	var v violations
	b, ok := s.Workload.(*v1alpha1.PodUnavailableBudget)
	if !ok || b.DeletionTimestamp != nil {
		return nil
	}
	view := viewBudget(b, s, p.budgets.annotated)
	if view.broken {
		return nil
	}
	view.check(&v, &b.Status, nil)
	v.compareGeneration(b.Status.ObservedGeneration, b.Generation)
	view.checkSaysDead(&v, b, s)
	if !s.refuses("patch", "pods") {
		for _, pod := range view.pods {
			v.never(budgetOf(pod) != b.Name, Settled, "pod %s does not know of its budget", pod.Name)
		}
	}
	return v
}

// checkSaysDead: a budget that allows nothing, and would if all of its pods served, names those on dead nodes. (PUB-42)
func (view *budgetView) checkSaysDead(v *violations, b *v1alpha1.PodUnavailableBudget, s *State) {
	if b.Status.UnavailableAllowed > 0 || view.desired == 0 || view.desired >= view.total {
		return
	}
	waits := among(slices.Values(view.pods), func(pod *corev1.Pod) bool { return !servesBudget(pod) })
	checkDead(v, s, waits, &b.Status, (*corev1.Pod).GetName)
}
