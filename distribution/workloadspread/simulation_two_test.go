// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// TestSimulationOfTwo plays histories in which another WorkloadSpread names the same workload. Admission refuses it, and it can be
// stored without. (WS-22)
func TestSimulationOfTwo(t *testing.T) {
	simulation.Check(t, two(bug{}), two(bug{of: ofDeployment, together: true}), two(bug{of: ofDeployment}))
}

// TestSimulationFindsBugsOfTwo plants bugs into what decides which of two has the workload: a few seeds must find each. (WS-22)
func TestSimulationFindsBugsOfTwo(t *testing.T) {
	nameless := inPlacer(changing(func(ws *v1alpha1.WorkloadSpread) { ws.CreationTimestamp = metav1.Time{} }))
	silent := inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status == nil {
			return
		}
		for i := range p.Status.SubsetStatuses {
			p.Status.SubsetStatuses[i].Conditions = conditions.Put(p.Status.SubsetStatuses[i].Conditions, nil)
		}
	})
	plant := simulation.Plant(t, two)
	plant("each has the pods", invariants.Placement, 0, bug{hides: anySpreads})
	plant("new pods go by names", invariants.Placement, 0, nameless)
	plant("the status does not tell", invariants.Status, 0, silent)
}

// spreads is the resource of both.
const spreads = "workloadspreads"

// second is the other WorkloadSpread, which comes first by name.
var second = types.NamespacedName{Namespace: simulation.Web.Namespace, Name: "also"}

// two is played with two WorkloadSpreads of one workload, whose controllers have to settle.
func two(bug bug) *simulation.Subject {
	bug.two = true
	w := simulated(&bug)
	w.Act = bug.controller.Act(actOnTwo)
	w.Judge = judgeAs(invariants.WithHolder)
	return w
}

// reconcileTwo reconciles both, one after the other. Between, it makes a request, so that what the first has written is judged before the
// second reads the caches.
func reconcileTwo(p *simulation.Process, r Reconciler) (simulation.Controller, error) {
	both := []types.NamespacedName{simulation.Web, second}
	live, err := client.NewForConfig(p.Config)
	return simulation.Controller{
		Reconcile: func(ctx context.Context, _ types.NamespacedName) (time.Duration, error) {
			soonest, err := r.Reconcile(ctx, simulation.Web)
			ended := time.Now()
			if _, failed := live.WorkloadSpreads(second.Namespace).Get(ctx, second.Name, metav1.GetOptions{}); failed != nil && !apierrors.IsNotFound(failed) {
				return soonest, errors.Join(err, failed)
			}
			if soonest > 0 {
				soonest = max(soonest-time.Since(ended), time.Millisecond)
			}
			after, failed := r.Reconcile(ctx, second)
			return apply.Soonest(soonest, after), errors.Join(err, failed)
		},
		Unfinished: func() (text string, err error) {
			for _, key := range both {
				does, failed := unfinished(r, key)
				text, err = text+does, errors.Join(err, failed)
			}
			return text, err
		},
	}, err
}

// actOnTwo is what users of two WorkloadSpreads do in a step.
func actOnTwo(u *simulation.User, r *rand.Rand) {
	switch r.IntN(9) {
	case 0:
		ws := anySpread(r)
		ws.Name, ws.Spec.TargetReference = second.Name, u.Workload().(*v1alpha1.WorkloadSpread).Spec.TargetReference
		u.CreateObject(spreads, ws)
	case 1:
		u.DeleteObject(spreads, second.Name, metav1.DeletePropagationBackground)
	case 2:
		u.Patch(spreads, second.Name, anySubsets(r))
	case 3:
		u.Patch(spreads, second.Name, anyStrategy(r))
	case 4:
		if pod := u.AnyPod(r); pod != nil {
			u.PatchPod(pod.Name, simulation.Pick(`{"metadata":{"annotations":{"apps.kruise.io/matched-workloadspread":%v}}}`, `"{\"name\":\"also\",\"subset\":\"b\"}"`, `"{\"name\":\"web\",\"subset\":\"b\"}"`)(r))
		}
	default:
		act(u, r)
	}
}
