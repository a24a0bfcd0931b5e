// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// simulatedBudgets is the resource of budgets.
const simulatedBudgets = "podunavailablebudgets"

// cloneSetBeside is what a simulation needs to know of the CloneSet whose pods a budget protects.
func cloneSetBeside(bug *bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Empty:    func() simulation.Object { return &workloadsv1alpha1.CloneSet{} },
		Create:   anyCloneSet,
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startCloneSet(p, bug) },
		Ignores:  []string{simulatedBudgets}, // its Guard reads them
		Act:      actOnCloneSet,
		Push:     pushCloneSet,
		Judge: func(uint64) simulation.Judge {
			past := invariants.NewPast()
			return simulation.Judge{
				Observe: past.Observe,
				Write: func(w *invariants.Write) []invariants.Violation {
					if w.Resource == simulatedBudgets { // its Guard's
						return nil
					}
					return invariants.CloneSet(w, invariants.CloneSetFeatures{})
				},
				Settled: func(s *invariants.State, pushed bool) []invariants.Violation {
					if !pushed { // the budget may hold back anything
						return nil
					}
					return past.CloneSetSettled(s, pushed, invariants.CloneSetFeatures{})
				},
			}
		},
	}
}

func startCloneSet(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	reader := caches.Reader{}
	for _, resource := range []Resource{cloneset.ResourceCloneSets, caches.Pods, caches.Claims, caches.Revisions} {
		reader[resource] = p.Informer(string(resource)).GetIndexer()
	}
	patience := &patience{process: p}
	o := cloneset.Options{NoNodes: true}
	o.Reader = readers.Noting{Reader: readers.ChangingPods(reader, bug.cloneSetSees), Resource: cloneset.ResourceCloneSets, Note: p.Observe}
	var err error
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Workloads, err = workloadsclient.NewForConfig(p.Config)
	}
	if _, asks := asked(p.Seed); err == nil && asks {
		patience.guard, err = guardOf(p, bug)
		if o.Budget = patience; bug.budget != nil {
			patience.guard = bug.budget(patience.guard)
		}
	}
	if err != nil {
		return simulation.Controller{}, err
	}
	r, err := cloneset.NewReconciler(o)
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{Held: func() bool { return patience.held }, Reconcile: func(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
		patience.held = false
		after, err := r.Reconcile(ctx, key)
		patience.held = patience.held || err != nil // a webhook has denied something
		return after, err
	}, Unfinished: func() (string, error) {
		plan, err := r.Plan(context.Background(), simulation.Web)
		if plan == nil || err != nil || !scenario.Acts(&plan.Plan) && plan.Status == nil && !plan.PrunePodsToDelete && len(plan.DeleteClaims) == 0 {
			return "", err
		}
		return fmt.Sprint(plan), nil
	}}, nil
}

// patience is the budget of a CloneSet. It tells the simulation what is asked, and remembers whether
// the CloneSet was told to wait.
type patience struct {
	process *simulation.Process
	guard   workloads.Budget
	held    bool
}

func (p *patience) AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error) {
	answer := p.process.Asks("UPDATE", pod)
	allowed, err := p.guard.AllowUpdate(ctx, pod)
	answer(allowed, err)
	p.held = p.held || !allowed
	return allowed, err
}

// anyCloneSet is the CloneSet of a seed.
func anyCloneSet(r *rand.Rand) simulation.Object {
	set := &workloadsv1alpha1.CloneSet{Spec: workloadsv1alpha1.CloneSetSpec{
		Replicas: ptr.To(1 + r.Int32N(5)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1",
				Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}},
				ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "memory", RestartPolicy: corev1.RestartContainer}},
			}}},
		},
		UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{
			Type: workloadsv1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(3)), MaxSurge: ptr.To(intstr.FromInt32(r.Int32N(2)))},
	}}
	for range r.IntN(4) {
		simulation.Merge(set, simulation.AnyEdit(r, cloneSetEdits))
	}
	return set
}

// cloneSetEdits are what users change about a CloneSet.
var cloneSetEdits = slices.Concat([]simulation.Edit{anyImage, anyImage, anyImage}, simulation.ReadEdits("cloneSetEdits"))

var anyImage = simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4, "bad")

// actOnCloneSet is what users of the CloneSet do in a step.
func actOnCloneSet(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(20); {
	case n < 14 || pod == nil:
		u.Edit(simulation.AnyEdit(r, cloneSetEdits))
	case n < 18:
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	case n == 18:
		u.Disown(pod)
	default:
		u.CreateStranger(fmt.Sprint("stranger-", r.IntN(2)))
	}
}

// pushCloneSet is all that users of the CloneSet do in the end. They push an image that runs to all pods, and allow a surge of one
// pod. Pods without an owner stay: it is for the CloneSet to adopt those that it selects.
func pushCloneSet(u *simulation.User) {
	u.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},"updateStrategy":{"partition":0,"paused":false,"maxSurge":1}}}`)
}
