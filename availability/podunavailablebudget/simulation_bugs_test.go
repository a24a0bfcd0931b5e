// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads"
)

// TestSimulationFindsBugs plants bugs into the parts that keep budgets: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return simulated(&b) })
	plant("records expire a second too early", invariants.Status, 3, inSnapshot(func(s *Snapshot) { s.Now = s.Now.Add(time.Second) }))
	plant("records expire a second too late", invariants.Status, 4, always(countAsRecordsEnd, inSnapshot(func(s *Snapshot) { s.Now = s.Now.Add(-time.Second) })))
	plant("records are about names", invariants.Identity, 0, bug{guardWrites: simulation.Forgetting(http.MethodPatch, "podunavailablebudgets", "status", "podUIDs")})
	plant("pods that are not ready are booked", invariants.Needless, 0, changing(asIfReady))
	plant("a Guard books on an old state", invariants.Availability, 1, bug{guardWrites: simulation.Forgetting(http.MethodPatch, "podunavailablebudgets", "metadata", "resourceVersion")})
	plant("the controller counts on an old state", invariants.Availability, 276,
		onWire(simulation.Forgetting(http.MethodPatch, "podunavailablebudgets", "metadata", "resourceVersion")))
	plant("a dry run books", invariants.Needless, 22, changing(really))
	plant("a denied deletion is booked", invariants.Needless, 0, answering(func(r *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
		if response.Allowed && r.Operation == admissionv1.Delete {
			*response = *admission.Errored(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("too late")))
		}
	}))
	plant("percentages are rounded down", invariants.Status, 1, inSnapshot(roundDown))
	plant("denied evictions are not seen", invariants.Settled, 47, bug{cloneSetSees: func(pod *corev1.Pod) {
		delete(pod.Annotations, lifecyclev1alpha1.EvictionDeniedAnnotation)
	}})
	plant("no reconcile waits until a record ends", invariants.Settled, 6, often(updateAside, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })))
	plant("pods that are marked for deletion let others go", invariants.Status, 12,
		inSnapshot(planted.EachPod[Snapshot](func(pod *corev1.Pod) { delete(pod.Labels, lifecyclev1alpha1.SpecifiedDeleteLabel) })))
	plant("pods count before they are told of their budget", invariants.Status, 0, inPlan(countLinked))
	plant("what is wanted is read from the status", invariants.Status, 0, bug{controller: spoil{Options: func(o *Options) { o.Reader = readers.Changing{Reader: o.Reader, Change: byStatus} }}})
	plant("pods go before anybody has counted", invariants.Availability, 36, allowing(uncounted))
	plant("drains are answered with 403", invariants.Status, 0, answering(func(_ *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
		if response.Result != nil && response.Result.Code == http.StatusTooManyRequests { // on which a client does not end with an error
			response.Result.Code = http.StatusForbidden
		}
	}))
	plant("an old cache says that a pod is not protected", invariants.Availability, 47, allowing(unprotectedInCache))
	plant("evictions of pods that are not ready are not recorded", invariants.Availability, 4, allowing(unready))
	plant("a CloneSet does not ask before it updates", invariants.Availability, 0, bug{budget: func(workloads.Budget) workloads.Budget { return generous{} }})
	plant("all users are taken for the garbage collector", invariants.Availability, 0, changing(func(r *admissionv1.AdmissionRequest) {
		r.UserInfo.Username = cleaners[0]
	}))
	plant("what is scaled to 0 is protected", invariants.Status, 0, often(keepTwo, inSnapshot(func(s *Snapshot) {
		for uid, w := range s.Workloads {
			if s.Budget.Spec.Selector != nil && w.Wants() == 0 {
				delete(s.Workloads, uid)
			}
		}
	})))
	plant("resizes are let through at pods/resize", invariants.Availability, 13, often(resizeAny, allowing(func(_ *Webhook, r *admissionv1.AdmissionRequest) bool {
		return r.SubResource == "resize"
	})))
	plant("a container is thought to run nothing but the image that it was given", invariants.Status, 5, inSnapshot(distrustMirrors))
	plant("a conflict is taken for success", invariants.Availability, 0, bug{guardWrites: ignoreConflicts})
	plant("pods that are being deleted stay in the records", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil {
			p.Status.DisruptedPods, p.Status.PodUIDs = s.Budget.Status.DisruptedPods, s.Budget.Status.PodUIDs
		}
	}))
}

// bug is a bug of one of the parts that keep budgets. Its zero value is none.
type bug struct {
	controller spoil
	// guardWrites changes what Guards write.
	guardWrites func(http.RoundTripper) http.RoundTripper
	// answer changes the answers of the webhook.
	answer func(context.Context, *Webhook, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
	// cloneSetSees changes copies of the pods that the CloneSet sees, budget what it asks.
	cloneSetSees func(*corev1.Pod)
	budget       func(workloads.Budget) workloads.Budget
	// always is all that users of the budget do.
	always func(*simulation.User, *rand.Rand)
}

type spoil = simulation.Spoil[Options, Reconciler]

// act is what users do in a step.
func (b *bug) act(act func(*simulation.User, *rand.Rand)) func(*simulation.User, *rand.Rand) {
	if b.always != nil {
		return b.always
	}
	return b.controller.Act(act)
}

// inPlan plants a bug into plans, inSnapshot into what they are made of, and onWire into requests.
func inPlan(change func(*Snapshot, *Plan)) bug {
	return bug{controller: planted.InPlan[Options](change)}
}

func inSnapshot(change func(*Snapshot)) bug {
	return bug{controller: planted.Misread[Options, Snapshot, Plan](change)}
}

func onWire(wrap func(http.RoundTripper) http.RoundTripper) bug {
	return bug{controller: simulation.OnWire[Options, Reconciler](wrap)}
}

// changing has the webhook see other requests, answering has it give other answers, and allowing has it allow some requests.
func changing(change func(*admissionv1.AdmissionRequest)) bug {
	return bug{answer: func(ctx context.Context, w *Webhook, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		change(r)
		return w.ValidatePod(ctx, r)
	}}
}

func answering(change func(*admissionv1.AdmissionRequest, *admissionv1.AdmissionResponse)) bug {
	return bug{answer: func(ctx context.Context, w *Webhook, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		response := w.ValidatePod(ctx, r)
		change(r, response)
		return response
	}}
}

func allowing(some func(*Webhook, *admissionv1.AdmissionRequest) bool) bug {
	return bug{answer: func(ctx context.Context, w *Webhook, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if some(w, r) {
			return admission.Allowed()
		}
		return w.ValidatePod(ctx, r)
	}}
}

// often has users do something half of the time.
func often(act func(*simulation.User, *rand.Rand), b bug) bug {
	b.controller.Often = act
	return b
}

// always has users do nothing else.
func always(act func(*simulation.User, *rand.Rand), b bug) bug {
	b.always = act
	return b
}

// keepTwo has two pods stay of those that a selector selects.
func keepTwo(u *simulation.User, r *rand.Rand) {
	editIf(u, anyBudget(r), `{"spec":{"minAvailable":2,"maxUnavailable":null}}`, func(spec *v1alpha1.PodUnavailableBudgetSpec) bool { return spec.Selector != nil })
}

// updateAside puts pods aside one after the other, and back, if the budget lets several go. Some take their time,
// so that it is at several times.
func updateAside(u *simulation.User, r *rand.Rand) {
	if r.IntN(3) == 0 {
		time.Sleep(2 * time.Second)
	}
	b, pod := u.Workload().(*v1alpha1.PodUnavailableBudget), u.AnyPod(r)
	switch n := b.Spec.MaxUnavailable; {
	case n == nil || n.IntValue() != 3 || len(b.Annotations) > 0:
		u.Edit(`{"spec":{"maxUnavailable":3,"minAvailable":null},"metadata":{"annotations":null}}`)
	case pod != nil:
		u.AskPatch(pod, aside(r))
	}
}

// countAsRecordsEnd puts pods aside, and puts one back just when the record of another one has ended. So the budget is counted in
// that second.
func countAsRecordsEnd(u *simulation.User, r *rand.Rand) {
	b := u.Workload().(*v1alpha1.PodUnavailableBudget)
	if n := b.Spec.MaxUnavailable; n == nil || n.IntValue() != 3 || len(b.Annotations) > 0 {
		u.Edit(`{"spec":{"maxUnavailable":3,"minAvailable":null},"metadata":{"annotations":null}}`)
		return
	}
	var first time.Time
	for _, at := range b.Status.UnavailablePods {
		if end := at.Add(10 * time.Second); end.After(time.Now()) && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	if !first.IsZero() {
		time.Sleep(time.Until(first) + time.Millisecond)
	}
	for _, pod := range u.Pods() {
		if pod.Labels["unavailable-pod.kruise.io/aside"] != "" {
			u.PatchPod(pod.Name, `{"metadata":{"labels":{"unavailable-pod.kruise.io/aside":null}}}`)
		} else if first.IsZero() {
			u.AskPatch(pod, `{"metadata":{"labels":{"unavailable-pod.kruise.io/aside":"true"}}}`)
		}
	}
}

// resizeAny resizes pods of a budget that lists resizes.
func resizeAny(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		resize(u, r, pod)
		return
	}
	u.Edit(`{"metadata":{"annotations":{"kruise.io/pub-protect-operations":"DELETE,EVICT,RESIZE"}}}`)
}
