// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

type spoil = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into the plans that distribute something.
func inPlan(change func(*Snapshot, *Plan)) spoil {
	return planted.InPlan[Options](func(s *Snapshot, p *Plan) {
		if p.template != nil && len(p.Problems) == 0 {
			change(s, p)
		}
	})
}

// misreading plants a bug into what planners see, and onWire into requests.
var (
	misreading = planted.Misread[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// TestSimulationFindsBugs plants bugs into the controller: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b spoil) *simulation.Subject { return simulated(&b) })
	plant("exclusions are forgotten", invariants.Placement, 38, misreading(func(s *Snapshot) { s.Distribution.Spec.Targets.ExcludedNamespaces.List = nil }))
	plant("kube-system gets a copy unnamed", invariants.Placement, 1, misreading(func(s *Snapshot) {
		if s.Distribution.Spec.Targets.AllNamespaces {
			s.Distribution.Spec.Targets.IncludedNamespaces.List = append(s.Distribution.Spec.Targets.IncludedNamespaces.List,
				v1alpha1.ResourceDistributionNamespace{Name: metav1.NamespaceSystem})
		}
	}))
	plant("an empty selector selects all", invariants.Placement, 2, misreading(func(s *Snapshot) {
		if len(s.Distribution.Spec.Targets.NamespaceLabelSelector.MatchLabels) == 0 {
			s.Distribution.Spec.Targets.AllNamespaces = true
		}
	}))
	plant("copies stay where they are not wanted", invariants.Settled, 6, inPlan(func(_ *Snapshot, p *Plan) { p.Delete = nil }))
	plant("drift stays", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Update = nil }))
	plant("new namespaces get nothing", invariants.Settled, 1, inPlan(func(s *Snapshot, p *Plan) {
		if len(s.Copies) > 0 {
			p.Create = nil
		}
	}))
	plant("copies that are right are written", invariants.Needless, 0, inPlan(func(s *Snapshot, p *Plan) {
		for _, c := range p.copies(s.Copies) {
			if slices.Contains(p.Targets, c.Namespace) && c.DeletionTimestamp == nil && len(p.Update) == 0 {
				object := p.template.updated(c, p.distribution)
				object.SetAnnotations(map[string]string{"at": s.Now.String()})
				p.Update = append(p.Update, object)
			}
		}
	}))
	plant("labels of others are lost", invariants.Ownership, 7, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Update {
			labels := p.Update[i].GetLabels()
			delete(labels, "mine")
		}
	}))
	plant("updates hit whatever version there is", invariants.Ownership, 50,
		onWire(simulation.Forgetting(http.MethodPut, "secrets", "metadata", "resourceVersion")))
	plant("deletions hit whatever has the name", invariants.Ownership, 24, onWire(simulation.SpoilDeletions(`{}`)).While(replace))
	plant("copies are deleted that were released", invariants.Ownership, 103, onWire(simulation.SpoilDeletions(`{}`)).While(release))
	plant("copies have no label", invariants.Spec, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Create {
			p.Create[i].SetLabels(nil)
		}
	}))
	plant("copies have no owner", invariants.Spec, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Create {
			p.Create[i].SetOwnerReferences(nil)
		}
	}))
	plant("conflicts are for ever", invariants.Settled, 21, misreading(func(s *Snapshot) {
		for name := range s.Conflicts {
			s.Conflicts[name] = s.Now
		}
	}))
	plant("a conflict is not looked at again", invariants.Settled, 0, spoil{Reconciler: func(r Reconciler) {
		apply := controller.KindOf(r).Apply
		controller.KindOf(r).Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			_, err := apply(ctx, s, p)
			return 0, err
		}
	}})
	plant("what is being deleted is distributed", invariants.Needless, 3, misreading(func(s *Snapshot) { s.Distribution.DeletionTimestamp = nil }))
	plant("failures are not told", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Failed = nil }))
	plant("a status is written whatever it has become", invariants.Status, 0,
		onWire(simulation.Forgetting(http.MethodPatch, "resourcedistributions", "metadata", "resourceVersion")))
}

// exclude has a namespace have a copy, or have none.
func exclude(u *simulation.User, r *rand.Rand) {
	u.Edit(simulation.Pick(`{"spec":{"targets":{"allNamespaces":true,"excludedNamespaces":%v}}}`, `{"list":[{"name":"ns-1"}]}`, "null")(r))
}

// replace has another user put his own in the place of a copy, of which the ResourceDistribution wants to be rid.
func replace(u *simulation.User, r *rand.Rand) {
	switch r.IntN(3) {
	case 0:
		exclude(u, r)
	case 1:
		u.DeleteObject(secrets, "ns-1/pull", metav1.DeletePropagationBackground)
	default:
		u.CreateObject(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: "pull"}})
	}
}

// release has another user take a copy for his own.
func release(u *simulation.User, r *rand.Rand) {
	if r.IntN(2) == 0 {
		exclude(u, r)
		return
	}
	u.Patch(secrets, "ns-1/pull", `{"metadata":{"ownerReferences":null}}`)
}
