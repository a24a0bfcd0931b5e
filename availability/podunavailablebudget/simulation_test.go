// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/internal/workload"
)

// TestSimulation has users change a budget and a CloneSet at random. They delete, evict, drain and update its pods
// through two replicas of the webhook, amid everything that can go wrong. It judges each write of both controllers and
// each answer.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&bug{}), simulation.Dying(simulated(&bug{})), simulated(&bug{always: countAsRecordsEnd}))
}

// TestSimulationReplays plays seeds twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one. The CloneSet of seeds 0, 1, 3 and 4 asks budgets. (CT-10)
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{0, 1, 2, 3, 4} {
		simulation.CheckReplay(t, simulated(&bug{}), seed)
	}
}

// asked says who asks budgets in the histories of a seed, beside users who delete and evict. The webhook may ask about
// updates, and the CloneSet before it updates.
func asked(seed uint64) (updates, cloneSet bool) { return seed%3 > 0, seed%3 < 2 }

// annotatedTotals says whether totals are what the annotation says in the histories of a seed.
func annotatedTotals(seed uint64) bool { return seed%5 == 2 }

// resizesAlone says whether budgets protect from resizes only if they list them in the histories of a seed.
func resizesAlone(seed uint64) bool { return seed%7 > 2 }

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.PodUnavailableBudget]{Create: budget.ValidateCreate, Update: budget.ValidateUpdate,
		Immutable: map[string]string{"selector": `{"selector":{"matchLabels":{"app":"other"}}}`, "targetRef": `{"targetRef":{"name":"other"}}`}}, simulated(&bug{}))
}

// simulated is what a simulation needs to know of budgets, of whose parts one has a bug.
func simulated(bug *bug) *simulation.Subject {
	return &simulation.Subject{
		Resource:     budgetResource,
		Empty:        func() simulation.Object { return &v1alpha1.PodUnavailableBudget{} },
		Create:       anyBudget,
		Start:        func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Webhooks:     2,
		StartWebhook: func(p *simulation.Process) (simulation.Webhook, error) { return startWebhook(p, bug) },
		Patience:     2 * time.Minute,
		Resizes:      true,
		Rewritten:    true,
		Mirrored:     true,
		Act:          bug.act(actOnBudget),
		Push:         pushBudget,
		Ignores:      []string{string(caches.Claims), string(caches.Revisions)},
		Beside:       []*simulation.Subject{cloneSetBeside(bug)},
		Judge: func(seed uint64) simulation.Judge {
			past := invariants.NewPast()
			if annotatedTotals(seed) {
				past.AnnotateTotals()
			}
			var features invariants.BudgetFeatures
			features.Updates, _ = asked(seed)
			features.ResizesAlone = resizesAlone(seed)
			return simulation.Judge{
				Observe: past.Observe, Write: past.Budget, Witness: past.BudgetWitness, Settled: past.BudgetSettled,
				Answer: func(a *invariants.Answer) []invariants.Violation { return past.BudgetAnswer(a, features) },
			}
		},
	}
}

func startSimulated(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	c, err := planted.Start(tested, bug.controller, simulatedOptions)(p)
	c.OnTime = true
	return c, err
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o.Features.AnnotatedTotal = annotatedTotals(p.Seed)
	o.Reader = planted.Read(p, ResourceBudgets, ResourcePods, resourceOf(workload.CloneSets))
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Availability, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// guardOf is the Guard of a process.
func guardOf(p *simulation.Process, bug *bug) (*Guard, error) {
	if bug.guardWrites != nil {
		p.Config.Wrap(bug.guardWrites)
	}
	budgets, err := client.NewForConfig(p.Config)
	if err != nil {
		return nil, err
	}
	if err := caches.AddIndexes(p.Informer(string(ResourceBudgets)), caches.ByNamespace); err != nil {
		return nil, err
	}
	return NewGuard(GuardOptions{
		Availability: budgets, Clock: steadyClock{}, Features: Features{ResizesAlone: resizesAlone(p.Seed)},
		Budgets: client.NewPodUnavailableBudgetLister(p.Informer(string(ResourceBudgets)).GetIndexer()),
	})
}

// steadyClock makes pauses of the same length, which are not drawn.
type steadyClock struct{ clock.RealClock }

func (steadyClock) After(time.Duration) <-chan time.Time { return time.After(50 * time.Millisecond) }

func startWebhook(p *simulation.Process, bug *bug) (simulation.Webhook, error) {
	guard, err := guardOf(p, bug)
	if err != nil {
		return nil, err
	}
	w := &Webhook{Deletions: true, Guard: guard}
	w.Updates, _ = asked(p.Seed)
	if w.Kubernetes, err = p.Kubernetes(); err != nil {
		return nil, err
	}
	if p.Seed%4 > 0 {
		if err := caches.AddIndexes(p.Informer(string(ResourcePods)), caches.ByNamespace); err != nil {
			return nil, err
		}
		w.Pods = corev1listers.NewPodLister(p.Informer(string(ResourcePods)).GetIndexer())
	}
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		if bug.answer != nil {
			return bug.answer(ctx, w, request)
		}
		return w.ValidatePod(ctx, request)
	}, nil
}

// anyBudget is the budget of a seed.
func anyBudget(r *rand.Rand) simulation.Object {
	one := intstr.FromInt32(1)
	b := &v1alpha1.PodUnavailableBudget{Spec: v1alpha1.PodUnavailableBudgetSpec{MaxUnavailable: &one}}
	if r.IntN(2) == 0 {
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	} else {
		b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}
	}
	for range r.IntN(4) {
		simulation.Merge(b, simulation.AnyEdit(r, budgetEdits))
	}
	return b
}

// budgetEdits are what users change about a budget.
var budgetEdits = simulation.ReadEdits("budgetEdits")

// actOnBudget is what users of a budget do in a step, and those who want its pods down.
func actOnBudget(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(20); {
	case n < 5 || pod == nil:
		u.Edit(simulation.AnyEdit(r, budgetEdits))
	case n == 5:
		u.Delete(metav1.DeletePropagationBackground)
		u.CreateAs(anyBudget(r))
	case n < 9:
		u.AskDelete(pod, r.IntN(4) == 0)
	case n < 12:
		u.AskEvict(pod, r.IntN(4) == 0)
	case n < 17:
		u.Drain(pod)
	case n < 18:
		resize(u, r, pod)
	case n < 19:
		u.AskPatch(pod, aside(r))
	default:
		u.AskPatch(pod, `{"metadata":{"annotations":{"pub.kruise.io/no-protect":`+[]string{`"true"`, "null"}[r.IntN(2)]+`}}}`)
	}
}

// resize gives a pod more cpu or less, or memory, for which its container restarts.
func resize(u *simulation.User, r *rand.Rand, pod *corev1.Pod) {
	u.AskResize(pod, "main", simulation.Pick(`{"requests":{%v}}`, `"cpu":"1"`, `"cpu":"2"`, `"cpu":"3"`, `"memory":"1Gi"`, `"memory":"2Gi"`)(r))
}

// aside has a pod count as unavailable, or no more.
var aside = simulation.Pick(`{"metadata":{"labels":{"unavailable-pod.kruise.io/aside":%v}}}`, `"true"`, "null")

// pushBudget is all that users of the budget do in the end: they let some pods go, and take
// back what keeps pods aside.
func pushBudget(u *simulation.User) {
	u.Edit(`{"metadata":{"annotations":{"pub.kruise.io/protect-total-replicas":null}}}`) // which stands though nothing is wanted
	some := []string{
		`{"spec":{"maxUnavailable":1,"minAvailable":null}}`, `{"spec":{"maxUnavailable":"50%","minAvailable":null}}`,
		`{"spec":{"maxUnavailable":0,"minAvailable":null}}`, // the CloneSet surges
	}
	u.Edit(some[u.Workload().GetGeneration()%int64(len(some))])
	for _, pod := range u.Pods() {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"unavailable-pod.kruise.io/aside":null}}}`)
	}
}
