// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// BudgetFeatures say what webhooks are asked about.
type BudgetFeatures struct {
	// Updates says that updates are asked about by the webhook, too.
	Updates bool
	// ResizesAlone says that a budget protects from resizes only if it lists them. (PUB-19)
	ResizesAlone bool
}

// BudgetAnswer judges an answer of a webhook, or of a controller that asks itself.
func (p *Past) BudgetAnswer(a *Answer, features BudgetFeatures) []Violation {
	var v violations
	if a.Allowed && !a.DryRun {
		for _, pod := range a.truePods() {
			if pod != nil {
				p.budgets.allowed[allowance{pod.UID, a.Operation}] = true
			}
		}
	}
	if a.Operation == "UPDATE" && !a.Itself && (!features.Updates || a.harmless()) {
		return nil
	}
	if a.resizes() && !a.Itself {
		resize := *a
		resize.Operation, a = "RESIZE", &resize
	}
	a.resizesAlone = features.ResizesAlone
	booking := p.booking(a)
	booked := booking != nil
	everReady := slices.ContainsFunc(a.cachedPods(), func(pod *corev1.Pod) bool { return pod != nil && servesBudget(pod) })
	if booked && !a.Shared && !(a.evicts() && a.uncounted()) {
		v = append(v, booking.wrong...)
	}
	switch {
	case booked && !a.DryRun && !a.Allowed && a.Ended.Sub(booking.at) > bookedWithin: // it may have taken long, and who is denied may ask again
		return v
	case booked && !a.DryRun && a.Ended.Sub(booking.at) > bookedWithin+time.Second:
		if a.freeSince(booking.version) || a.ended() || a.Shared && a.free() {
			return v
		}
		v.add(Availability, "%s of pod %s is allowed, and was booked %v ago: no replica knows it for long", a.Operation, a.Name, a.Ended.Sub(booking.at))
	case booked && a.DryRun && !a.Shared:
		v.add(Needless, "a dry run about pod %s books it", a.Name)
	case booked && !a.Allowed && !a.Failed && !a.Shared:
		v.add(Needless, "pod %s is booked, and %s denied", a.Name, a.Operation)
	case a.Allowed && !a.DryRun && !booked && !a.free():
		v.add(Availability, "%s of pod %s is allowed, and it is not booked", a.Operation, a.Name)
	case a.Allowed && a.DryRun && !a.free() && !a.may(true):
		v.add(Availability, "a dry run of %s of pod %s is allowed, and it would not be", a.Operation, a.Name)
	case booked && !a.Failed && !a.Shared && !a.evicts() && !everReady:
		v.add(Needless, "pod %s is booked, and was not in service", a.Name)
	}
	if !a.Allowed && !a.Failed && !a.Unknown {
		a.checkDenial(&v)
	}
	return v
}

// checkDenial: a denial is given when nothing is to spare, and clients can tell what it means. (PUB-14,
// PUB-28)
func (a *Answer) checkDenial(v *violations) {
	if !a.Itself {
		switch s := a.Denial; {
		case s.Code == http.StatusConflict: // its preconditions do not hold
			return
		case a.Operation != "EVICT" && s.Code != http.StatusForbidden:
			v.add(Status, "%s of pod %s is denied with %d", a.Operation, a.Name, s.Code)
		case a.Operation == "EVICT" && (s.Code != http.StatusTooManyRequests || s.Details == nil || s.Details.RetryAfterSeconds == 0 ||
			!slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Type == policyv1.DisruptionBudgetCause })):
			v.add(Status, "the eviction of pod %s is denied as drains do not understand: %+v", a.Name, s)
		case strings.Contains(s.Message, "the object has been modified"): // too often
			return
		}
	}
	if slices.Contains(a.trueBudgets(), nil) { // it is gone before anything could be booked
		return
	}
	v.never(!a.may(false), Needless, "%s of pod %s is denied, and there is some to spare", a.Operation, a.Name)
}

// bookedWithin is how long it may take to let a pod go: what is left until that is forgotten is for the client that asked.
// Times are stored up to a second too early. (PUB-25)
const bookedWithin = updateAwaited / 2

func (p *Past) booking(a *Answer) *bookedPod {
	uids := map[types.UID]bool{}
	for _, pod := range versions[*corev1.Pod](slices.Concat(a.Cached("pods", a.Name), a.Truth("pods", a.Name))) {
		if pod != nil {
			uids[pod.UID] = true
		}
	}
	for _, b := range slices.Backward(p.budgets.booked) {
		if b.version < a.Version {
			break
		}
		if b.by == a.By && uids[b.pod] {
			return &b
		}
	}
	return nil
}

// harmless tells whether an update takes no pod down, or takes it out of its budget.
func (a *Answer) harmless() bool {
	before, _ := a.Truth("pods", a.Name)[0].(*corev1.Pod)
	after, _ := a.After.(*corev1.Pod)
	return before == nil || after == nil || budgetOf(after) == "" || !disrupts(before, after)
}

// budgets are what the author may have known of the budget, nil for none, and trueBudgets what there was. The same is of pods.
func (a *Answer) budgets() []*podBudget {
	return versions[*podBudget](a.Cached(budgetResource, a.Budget))
}
func (a *Answer) trueBudgets() []*podBudget {
	return versions[*podBudget](a.Truth(budgetResource, a.Budget))
}
func (a *Answer) cachedPods() []*corev1.Pod { return versions[*corev1.Pod](a.Cached("pods", a.Name)) }
func (a *Answer) truePods() []*corev1.Pod   { return versions[*corev1.Pod](a.Truth("pods", a.Name)) }

// evicts tells whether a webhook is asked about an eviction: no webhook judges the pod again, which may turn ready before. (PUB-14.3)
func (a *Answer) evicts() bool { return a.Operation == "EVICT" && !a.Itself }

// ended tells whether the pod has ended or was being deleted at any time since the author was asked: it is not missed.
func (a *Answer) ended() bool {
	return slices.ContainsFunc(a.pods(), func(pod *corev1.Pod) bool { return pod == nil || !active(pod) })
}

// uncounted tells whether there was a time since the author was asked at which the pod did not count. It was not in service
// then, or not told of its budget. If the author is a controller, it looks back to when its cache got its present state.
func (a *Answer) uncounted() bool {
	return slices.ContainsFunc(a.pods(), func(pod *corev1.Pod) bool { return pod == nil || !servesBudget(pod) || budgetOf(pod) == "" })
}

// pods are what the author has to know of the pod. A webhook may not take the pod for unready or unprotected because its
// cache is behind. (PUB-33)
func (a *Answer) pods() []*corev1.Pod {
	if a.Itself {
		return a.cachedPods()
	}
	return a.truePods()
}

// free tells whether the pod may go without being booked. Its budget does not protect it from the operation, or has
// allowed it to go this very moment, or there is no budget. (PUB-14)
func (a *Answer) free() bool {
	for _, pod := range a.pods() {
		if pod != nil && budgetOf(pod) == a.Budget && slices.ContainsFunc(a.budgets(), func(b *podBudget) bool { return b != nil && !isAbout(b, pod) }) {
			return true
		}
		if pod != nil && (pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true" || budgetOf(pod) == "" && !a.mayBeTold(pod)) {
			return true
		}
	}
	if a.ended() || a.uncounted() && (!a.evicts() || a.DryRun || slices.ContainsFunc(a.budgets(), neverCounted)) {
		return true
	}
	return slices.ContainsFunc(a.budgets(), a.letGo) || slices.ContainsFunc(a.trueBudgets(), func(b *podBudget) bool { return b == nil || a.open(b) })
}

// mayBeTold tells whether a pod that names no budget belongs to it, so that it may be told of it before it is evicted. (PUB-14.1)
func (a *Answer) mayBeTold(pod *corev1.Pod) bool {
	return slices.ContainsFunc(a.budgets(), func(b *podBudget) bool {
		switch owner := metav1.GetControllerOfNoCopy(pod); {
		case b == nil:
			return false
		case b.Spec.TargetReference != nil:
			return owner != nil && owner.Kind == b.Spec.TargetReference.Kind && owner.Name == b.Spec.TargetReference.Name
		}
		return matches(b.Spec.Selector, pod.Labels)
	})
}

// isAbout tells whether a budget may be about a pod: it selects it, or something controls the pod. (PUB-35)
func isAbout(b *podBudget, pod *corev1.Pod) bool {
	if b.Spec.TargetReference != nil {
		return metav1.GetControllerOfNoCopy(pod) != nil
	}
	return matches(b.Spec.Selector, pod.Labels)
}

// neverCounted tells that no controller has counted a budget yet, so that nothing can be booked.
func neverCounted(b *podBudget) bool {
	return b != nil && b.Status.ObservedGeneration == 0
}

// open tells whether a budget lets all pods go without booking them. That it did so once is not enough: a cache that is behind
// does not know what holds now. (PUB-34)
func (a *Answer) open(b *podBudget) bool {
	return b != nil && (!a.protects(b) || b.Status.ObservedGeneration == b.Generation && b.Status.DesiredAvailable == 0)
}

// letGo tells whether a budget has let the pod go this very moment.
func (a *Answer) letGo(b *podBudget) bool {
	if b == nil {
		return false
	}
	at := recordsOf(&b.Status)[a.Name].at
	return !at.IsZero() && a.Ended.Sub(at) <= bookedWithin+time.Second
}

// freeSince tells the same of the budget after a version of the API server. The author has read the budget anew since, so
// what it booked before does not count. (PUB-25)
func (a *Answer) freeSince(version int64) bool {
	all := a.budgets()
	first := slices.IndexFunc(all, func(b *podBudget) bool { return b != nil && versionOf(b) > version })
	return first >= 0 && slices.ContainsFunc(all[first:], func(b *podBudget) bool { return b == nil || a.open(b) || a.letGo(b) })
}

// may tells whether the author may have known the pod in service, and a state of the budget that allows the pod to go.
// With spared false it is a state that does not allow that.
func (a *Answer) may(spared bool) bool {
	return slices.ContainsFunc(a.cachedPods(), func(pod *corev1.Pod) bool {
		return pod != nil && servesBudget(pod) && slices.ContainsFunc(a.budgets(), func(b *podBudget) bool {
			return b != nil && (a.spares(b, pod) == spared || a.worn(b, pod))
		})
	})
}

// worn tells whether a pod may have been allowed to go for a minute, again and again. Then it has to stand in line again. worn also holds if
// the pod was allowed to go once, more than a minute ago, and the controller has not counted since. (PUB-14.8)
func (a *Answer) worn(b *podBudget, pod *corev1.Pod) bool {
	record := recordsOf(&b.Status)[pod.Name]
	since, found := b.Status.BookedSince[pod.Name]
	if !found {
		return record.kind != "" && record.uid == pod.UID && a.Ended.Sub(record.at) > bookedAgain
	}
	return record.kind == "" || a.Ended.Sub(since.Time) > bookedAgain
}

// bookedAgain is for how long a pod that was allowed to go is allowed again.
const bookedAgain = time.Minute

// spares tells whether a budget would let a pod go. (PUB-14)
func (a *Answer) spares(b *podBudget, pod *corev1.Pod) bool {
	record := recordsOf(&b.Status)[pod.Name]
	switch s := &b.Status; {
	case !isAbout(b, pod):
		return true
	case s.ObservedGeneration != b.Generation:
		return false
	case !a.protects(b), s.DesiredAvailable == 0, record.kind != "" && record.uid == pod.UID:
		return true
	case markedForDeletion(pod):
		return s.CurrentAvailable > s.DesiredAvailable
	}
	return b.Status.UnavailableAllowed > 0
}

// protects tells whether a budget protects from what the answer is about. From a resize one that lists nothing does as far as it
// does from updates. (PUB-14.5, PUB-19)
func (a *Answer) protects(b *podBudget) bool {
	return protects(b, a.Operation) || a.Operation == "RESIZE" && !a.resizesAlone && protects(b, "UPDATE")
}

// versions are objects of a type, nil for none.
func versions[T Object](objects []Object) []T {
	all := make([]T, len(objects))
	for i, object := range objects {
		all[i], _ = object.(T)
	}
	return all
}

// Answer is what a client was told that wants to delete, evict or update a pod.
type Answer struct {
	// By is the process that answered: a replica of a webhook, or a controller that asked itself. For
	// is the client that wanted to know.
	By, For string
	// Itself tells that By is a controller.
	Itself bool
	// Operation is DELETE, EVICT or UPDATE, of the pod of a name.
	Operation, Name string
	DryRun          bool
	// Budget is the name of the budget of the history. After is the pod as the request would leave it. It is nil if the
	// pod is to go, and if By is a controller.
	Budget string
	After  Object
	// Began and Ended are when it was asked and answered, Version how far the API server was when it was asked.
	Began, Ended time.Time
	Version      int64

	Allowed bool
	// Denial is what the client is told; nil if it is allowed, and for a controller.
	Denial *metav1.Status
	// Unknown says that a controller could not tell.
	Unknown bool
	// Failed says that a request of the author failed meanwhile, or that its answer was lost.
	Failed bool
	// Shared says that the same process was asked about the same pod at the same time.
	Shared bool

	// Cached returns what an object of a resource was in the author's cache when the author was asked, and all its
	// later states. If it was asked about an earlier state, Cached begins with that one. Truth returns what the object
	// was in the API server then. Nil stands for none.
	Cached, Truth func(resource, name string) []Object

	resizesAlone bool // as BudgetFeatures have it
}

// resizes tells whether an update is a resize. Cpu and memory of regular containers change, and no more of the spec. None of the
// containers restarts for that. The pod does not come to be held out, keeps its QoS class, and is not a static one. (PUB-19)
func (a *Answer) resizes() bool {
	before, _ := a.Truth("pods", a.Name)[0].(*corev1.Pod)
	after, _ := a.After.(*corev1.Pod)
	if a.Operation != "UPDATE" || before == nil || after == nil || equality.Semantic.DeepEqual(before.Spec, after.Spec) || !heldOut(before) && heldOut(after) {
		return false
	}
	if _, static := before.Annotations[corev1.MirrorPodAnnotationKey]; static || qosOf(before) != qosOf(after) || len(before.Spec.Containers) != len(after.Spec.Containers) {
		return false
	}
	same := after.DeepCopy()
	for i := range same.Spec.Containers {
		was := &before.Spec.Containers[i]
		if !resizedInPlace(was, &same.Spec.Containers[i]) {
			return false
		}
		same.Spec.Containers[i].Resources.Requests, same.Spec.Containers[i].Resources.Limits = was.Resources.Requests, was.Resources.Limits
	}
	return equality.Semantic.DeepEqual(before.Spec, same.Spec)
}

// resizedInPlace tells whether each resource that changes in a container, comes or goes is cpu or memory and needs no restart.
func resizedInPlace(before, after *corev1.Container) bool {
	for _, lists := range [][2]corev1.ResourceList{{before.Resources.Requests, after.Resources.Requests}, {before.Resources.Limits, after.Resources.Limits}} {
		for _, name := range slices.Concat(slices.Collect(maps.Keys(lists[0])), slices.Collect(maps.Keys(lists[1]))) {
			was, had := lists[0][name]
			is, has := lists[1][name]
			restarts := slices.Contains(after.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: corev1.RestartContainer})
			if (had != has || was.Cmp(is) != 0) && (restarts || name != corev1.ResourceCPU && name != corev1.ResourceMemory) {
				return false
			}
		}
	}
	return true
}

// qosOf is the QoS class of a pod whose resources are its containers'.
func qosOf(pod *corev1.Pod) corev1.PodQOSClass {
	class := corev1.PodQOSGuaranteed
	some := false
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := c.Resources.Limits[name], c.Resources.Requests[name]
			some = some || !limit.IsZero() || !request.IsZero()
			if limit.IsZero() || !request.IsZero() && request.Cmp(limit) != 0 {
				class = corev1.PodQOSBurstable
			}
		}
	}
	if !some {
		return corev1.PodQOSBestEffort
	}
	return class
}
