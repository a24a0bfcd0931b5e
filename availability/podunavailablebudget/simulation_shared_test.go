// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/internal/workload"
)

// TestSimulationOfShared plays histories of several budgets over the same pods. A Deployment that rolls has some of the
// pods, and so have a Job, a foreign kind with a scale and one without. Others are static pods, and pods of no controller. (PUB-20,
// PUB-23)
func TestSimulationOfShared(t *testing.T) {
	simulation.Check(t, shared(&bug{}))
}

// beside are the names that budgets beside web have: one comes before it, and one after it.
var beside = []string{"also", "zone"}

// shared is played with several budgets, and pods of several owners.
func shared(bug *bug) *simulation.Subject {
	w := simulated(bug)
	w.Resizes, w.Beside = false, nil
	w.Further, w.Populate, w.Others = ownerResources(), populateOwners, actOwners
	w.Create = func(r *rand.Rand) simulation.Object { return anyShared(r) }
	w.Start = func(p *simulation.Process) (simulation.Controller, error) { return startShared(p, bug) }
	w.Act, w.Ask, w.Push = bug.act(actOnShared), evictAll, pushShared
	w.Release = func(u *simulation.User) { playOwners(u, u.Insist) }
	w.Judge = func(seed uint64) simulation.Judge {
		judge := &invariants.SharedBudgets{Scaled: []string{"widgets"}}
		judge.Updates, _ = asked(seed)
		return simulation.Judge{Write: judge.Write, Witness: judge.Witness, Answer: judge.Answer, Settled: judge.Settled}
	}
	return w
}

func startShared(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	r, err := bug.controller.Start(p, func(p *simulation.Process) (o Options, err error) {
		o.Reader = planted.Read(p, ResourceBudgets, ResourcePods, resourceOf(workload.Deployments), resourceOf(workload.ReplicaSets))
		o.Scales = widgetScales{p}
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Availability, err = client.NewForConfig(p.Config)
		}
		return o, err
	}, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	keys := []types.NamespacedName{simulation.Web}
	for _, name := range beside {
		keys = append(keys, types.NamespacedName{Namespace: simulation.Web.Namespace, Name: name})
	}
	return simulation.Controller{OnTime: true,
		Reconcile: simulation.ReconcileEach(r.Reconcile, keys...),
		Unfinished: func() (string, error) {
			for _, key := range keys {
				if left, err := tested.Unfinished(r, key); err != nil || left != "" {
					return key.Name + ": " + left, err
				}
			}
			return "", nil
		},
	}, nil
}

// widgetScales read what Widgets want, and no other kind.
type widgetScales struct{ process *simulation.Process }

func (s widgetScales) Workload(_ context.Context, _ string, kind schema.GroupVersionKind, name string) (*budget.Workload, error) {
	if kind.Kind != "Widget" {
		return nil, ErrNotRead
	}
	for _, object := range s.process.Live("widgets") {
		if object.GetName() == name {
			wants, _, err := unstructured.NestedInt64(object.(*unstructured.Unstructured).Object, "spec", "replicas")
			replicas := int32(wants)
			return &budget.Workload{GroupKind: kind.GroupKind(), Name: name, UID: object.GetUID(), Replicas: &replicas, Deleting: object.GetDeletionTimestamp() != nil}, err
		}
	}
	return nil, nil
}

// anyShared is a budget over all pods, over those of one owner, or of one workload.
func anyShared(r *rand.Rand) *v1alpha1.PodUnavailableBudget {
	one := intstr.FromInt32(1)
	b := &v1alpha1.PodUnavailableBudget{Spec: v1alpha1.PodUnavailableBudgetSpec{MaxUnavailable: &one}}
	switch r.IntN(6) {
	case 0, 1:
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	case 2:
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"of": []string{"web", "widget", "gadget"}[r.IntN(3)]}}
	case 3:
		b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: widgets.GroupVersion().String(), Kind: widgets.Kind, Name: "widget"}
	default:
		b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
	}
	for range r.IntN(3) {
		simulation.Merge(b, simulation.AnyEdit(r, budgetEdits))
	}
	return b
}

// actOnShared is what users of the budgets do in a step, and those who want pods down.
func actOnShared(u *simulation.User, r *rand.Rand) {
	pod, other := u.AnyPod(r), beside[r.IntN(len(beside))]
	switch n := r.IntN(24); {
	case n < 3 || pod == nil:
		u.Edit(simulation.AnyEdit(r, budgetEdits))
	case n == 3:
		u.Delete(metav1.DeletePropagationBackground)
		u.CreateAs(anyShared(r))
	case n < 6:
		b := anyShared(r)
		b.Name = other
		u.CreateObject(budgetResource.Name, b)
	case n == 6:
		u.DeleteObject(budgetResource.Name, other, metav1.DeletePropagationBackground)
	case n == 7:
		u.Patch(budgetResource.Name, other, simulation.AnyEdit(r, budgetEdits))
	case n == 8:
		u.Quarantine(pod)
	case n < 11:
		u.AskDelete(pod, r.IntN(4) == 0)
	case n < 15:
		u.AskEvict(pod, r.IntN(4) == 0)
	case n < 21:
		u.Drain(pod)
	case n < 23:
		u.AskPatch(pod, aside(r))
	default:
		u.AskPatch(pod, `{"metadata":{"annotations":{"pub.kruise.io/no-protect":`+[]string{`"true"`, "null"}[r.IntN(2)]+`}}}`)
	}
}

// evictAll has users ask to evict all pods at once.
func evictAll(u *simulation.User) {
	for _, pod := range u.Pods() {
		u.AskEvict(pod, false)
	}
}

// pushShared is all that users do in the end. They leave one budget, which lets some pods go, and say how many pods there are if
// nothing else tells. They roll the Deployment once more.
func pushShared(u *simulation.User) {
	for _, name := range beside {
		u.DeleteObject(budgetResource.Name, name, metav1.DeletePropagationBackground)
	}
	limit := []string{"1", "1", `"50%"`}[len(u.Pods())%3]
	total := 0
	if selector := u.Workload().(*v1alpha1.PodUnavailableBudget).Spec.Selector; selector != nil {
		total = wantedOf(u, selector.MatchLabels["of"])
	}
	u.Edit(fmt.Sprintf(`{"metadata":{"annotations":{"pub.kruise.io/protect-total-replicas":"%d"}},"spec":{"maxUnavailable":%s,"minAvailable":null}}`, total, limit))
	for _, pod := range u.Pods() {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"unavailable-pod.kruise.io/aside":null}}}`)
	}
	u.Patch("deployments", "web", `{"spec":{"replicas":3,"template":{"metadata":{"labels":{"version":"9"}}}}}`)
}

// labelsOf returns the labels of the pods of an owner.
func labelsOf(owner string) map[string]string { return map[string]string{"app": "web", "of": owner} }

// podOf is a pod of an owner; nil for none.
func podOf(name, owner string, ref *metav1.OwnerReference) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labelsOf(owner)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	if ref != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*ref}
	}
	return pod
}

// TestSimulationFindsBugsOfShared plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfShared(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return shared(&b) })
	plant("the last pods of ReplicaSets that want none do not count", invariants.Settled, 1, often(spareNone, inSnapshot(withoutScaledDown)))
	plant("pods of other budgets count", invariants.Availability, 1, often(shareDeployment, inSnapshot(withOthers)))
	plant("what is not known wants nothing", invariants.Availability, 2, often(protectGadgets, inSnapshot(withoutUnknown)))
	plant("a name of a budget that is gone stays", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) {
		p.Link = slices.DeleteFunc(p.Link, func(pod *corev1.Pod) bool { return relatedTo(pod) != "" })
	}))
	plant("a budget keeps pods that are of no budget", invariants.Settled, 46, inPlan(func(_ *Snapshot, p *Plan) { p.Untell = nil }))
	plant("a budget takes its name off its own pods", invariants.Ownership, 0, inPlan(func(s *Snapshot, p *Plan) {
		for _, pod := range s.Pods {
			if relatedTo(pod) == s.Budget.Name && p.Computed != nil {
				p.Untell = append(p.Untell, pod)
			}
		}
	}))
	plant("a budget keeps pods that come from another kind", invariants.Settled, 16, inSnapshot(underUnknown))
	plant("evictions are not judged", invariants.Availability, 0, allowing(func(_ *Webhook, r *admissionv1.AdmissionRequest) bool {
		return r.SubResource == "eviction"
	}))
}

// shareDeployment has other budgets be about the same pods, and go again.
func shareDeployment(u *simulation.User, r *rand.Rand) {
	b := anyShared(r)
	if b.Name = beside[r.IntN(2)]; r.IntN(3) > 0 {
		u.CreateObject(budgetResource.Name, b)
		return
	}
	u.DeleteObject(budgetResource.Name, b.Name, metav1.DeletePropagationBackground)
}

// withOthers takes pods that name other budgets for own ones.
func withOthers(s *Snapshot) {
	planted.EachPod[Snapshot](func(pod *corev1.Pod) {
		if slices.ContainsFunc(s.Others, func(other *v1alpha1.PodUnavailableBudget) bool { return other.Name == relatedTo(pod) }) {
			pod.Annotations[v1alpha1.RelatedPubAnnotation] = s.Budget.Name
		}
	})(s)
}

// spareNone has a budget of the Deployment spare nothing but what it has beyond what it wants.
func spareNone(u *simulation.User, r *rand.Rand) {
	editIf(u, anyShared(r), `{"spec":{"maxUnavailable":0,"minAvailable":null}}`, func(spec *v1alpha1.PodUnavailableBudgetSpec) bool {
		return spec.TargetReference != nil && spec.TargetReference.Kind == "Deployment"
	})
}

// protectGadgets has a budget protect pods of a kind that is not read.
func protectGadgets(u *simulation.User, r *rand.Rand) {
	editIf(u, anyShared(r), `{"spec":{"maxUnavailable":1,"minAvailable":null},"metadata":{"annotations":null}}`, func(spec *v1alpha1.PodUnavailableBudgetSpec) bool {
		return spec.Selector != nil && spec.Selector.MatchLabels["of"] == "gadget"
	})
}

// editIf edits the budget if it is one of those that are wanted, and puts another one in its place otherwise.
func editIf(u *simulation.User, other simulation.Object, patch string, wanted func(*v1alpha1.PodUnavailableBudgetSpec) bool) {
	if wanted(&u.Workload().(*v1alpha1.PodUnavailableBudget).Spec) {
		u.Edit(patch)
		return
	}
	u.Delete(metav1.DeletePropagationBackground)
	u.CreateAs(other)
}

// withoutScaledDown drops the pods of ReplicaSets that want none.
func withoutScaledDown(s *Snapshot) {
	s.Pods = slices.DeleteFunc(s.Pods, func(pod *corev1.Pod) bool {
		ref := metav1.GetControllerOfNoCopy(pod)
		return ref != nil && s.Workloads[ref.UID] != nil && s.Workloads[ref.UID].Controller != nil && s.Workloads[ref.UID].Wants() == 0
	})
}

// withoutUnknown takes workloads that are not known for ones that are gone.
func withoutUnknown(s *Snapshot) {
	for _, pod := range s.Pods {
		if ref := metav1.GetControllerOfNoCopy(pod); ref != nil && s.Workloads[ref.UID] == nil {
			s.Workloads[ref.UID] = absent(schema.GroupKind{Kind: ref.Kind}, ref)
		}
	}
}

// underUnknown has workloads be controlled by a Deployment that is not known.
func underUnknown(s *Snapshot) {
	for uid, w := range s.Workloads {
		if under := *w; under.Controller == nil {
			under.Controller = &metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "unknown"}
			s.Workloads[uid] = &under
		}
	}
}
