// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
)

// LatePlacement is a Placement that is made later than the controllers that ask it, and perhaps never. It is made when the API server
// begins to serve what places pods, such as WorkloadSpreads. Their CRD may come after that of CloneSets.
// NewLatePlacement makes one. It may be used by many goroutines.
type LatePlacement struct{ placement *admission.Known[Placement] }

// NewLatePlacement returns one of which it is not known yet whether it is made. What names the kind that places pods,
// for errors.
func NewLatePlacement(what string) *LatePlacement {
	return &LatePlacement{admission.NewKnown[Placement]("whether the API server serves " + what)}
}

// Missing says that nothing places pods, until Set is called: they stay as they are.
func (p *LatePlacement) Missing() { p.placement.Missing() }

// Set says who places pods from now on.
func (p *LatePlacement) Set(placement Placement) { p.placement.Set(placement) }

// Rules returns the RBAC rules that the Placement needs, if Set has been called and it says so by a method Rules.
func (p *LatePlacement) Rules() []rbacv1.PolicyRule {
	placement, _ := p.placement.Now()
	return manifests.Of(placement)
}

// PlacePod asks the Placement, if there is one. Until Missing or Set has been called it waits, and returns an error when the
// context is done before. So no pod is created that a Placement may yet have to place.
func (p *LatePlacement) PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	placement, there, err := p.placement.Get(ctx)
	if err != nil || !there {
		return pod, err
	}
	return placement.PlacePod(ctx, pod)
}
