// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-base/featuregate"

	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/workloads"
)

// placements are asked where the pods of CloneSets and StatefulSets go, as their controllers create them. The controllers
// of WorkloadSpreads and PersistentPodStates set them; no pod is created before it is known whether these kinds are served.
type placements struct{ spreads, states *placement }

func newPlacements() placements {
	return placements{&placement{newKnown[workloads.Placement]("WorkloadSpreads")}, &placement{newKnown[workloads.Placement]("PersistentPodStates")}}
}

// waits is told of the controllers whose CRDs are not installed.
func (p *placements) waits(c controllers.Controller) {
	switch c.Resource {
	case workloadSpreadsResource:
		p.spreads.missing()
	case persistentPodStatesResource:
		p.states.missing()
	}
}

// ofSpreads is nil where the gate is closed.
func (p *placements) ofSpreads(gates featuregate.FeatureGate) workloads.Placement {
	if !gates.Enabled(features.WorkloadSpread) {
		return nil
	}
	return p.spreads
}

// placement leaves pods as they are while nothing says where they go.
type placement struct{ *known[workloads.Placement] }

func (p *placement) PlacePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	placer, err := p.get(ctx)
	if placer == nil || err != nil {
		return pod, err
	}
	return (*placer).PlacePod(ctx, pod)
}
