// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulationOfResizes plays histories in which users change cpu as well, and nodes give it
// soon, later, or never.
func TestSimulationOfResizes(t *testing.T) {
	w := resizing(bug{}, everything)
	simulation.Check(t, w, simulation.Dying(w))
}

// resizing is played with pods that are resized.
func resizing(bug bug, fields fields) *simulation.Subject {
	options := bug.Options
	bug.Options = func(o *Options) {
		o.Features.InPlaceResize = true
		if options != nil {
			options(o)
		}
	}
	w := played(bug, fields)
	w.Resizes, w.Act = true, bug.Act(fields.actOnCPU)
	w.Create = func(r *rand.Rand) simulation.Object {
		set := fields.anySet(r).(*v1alpha1.CloneSet)
		simulation.Merge(set, cpuEdits[0](r))
		return set
	}
	w.Judge = judgedBy(func(f *invariants.CloneSetFeatures) { f.InPlaceResize = true })
	return w
}

// cpuEdits change cpu, alone and with an image, of containers that restart for it and others.
var cpuEdits = simulation.ReadEdits("cpuEdits")

// actOnCPU is what users do, with changes of cpu every other time.
func (f fields) actOnCPU(u *simulation.User, r *rand.Rand) {
	if r.IntN(2) == 0 {
		f.act(u, r)
		return
	}
	u.Edit(simulation.AnyEdit(r, cpuEdits))
}

// TestSimulationFindsBugsOfResizes plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfResizes(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return resizing(b, earlier) })
	plant("a resize asks for more", invariants.InPlace, 0, inResizes(func(body map[string]any) {
		body["spec"] = map[string]any{"containers": []any{map[string]any{"name": "main", "resources": map[string]any{"requests": map[string]any{"cpu": "9"}}}}}
	}))
	plant("pods are recreated that can be resized", invariants.Needless, 0, inSpec(func(spec *v1alpha1.CloneSetSpec) {
		if spec.UpdateStrategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType {
			spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
		}
	}))
	plant("a deferred pod holds up the others", invariants.Settled, 30, misreading(withdrawDeferred))
	plant("a resize that was not requested is forgotten", invariants.Settled, 44, inPlan(func(_ *Snapshot, p *Plan) {
		for i := range p.Patch {
			if p.Patch[i].Kind == rollout.PatchRefresh {
				p.Patch[i].Patch.Resources = nil
			}
		}
	}))
	plant("a container restarts in service", invariants.InPlace, 0, inPatches(func(p *rollout.PodPatch) {
		if len(p.Patch.Resources) > 0 {
			p.Patch.Conditions = nil
		}
	}))
}

// inResizes changes what requests of resizes say.
func inResizes(spoil func(body map[string]any)) bug {
	return onWire(simulation.SpoilBodies(http.MethodPatch, "pods", func(body map[string]any) {
		if data, err := json.Marshal(body["spec"]); err == nil && strings.Contains(string(data), `"resources":{`) {
			spoil(body)
		}
	}))
}

// withdrawDeferred takes pods whose nodes are full for pods that do not serve.
func withdrawDeferred(s *Snapshot) {
	for _, pod := range s.Pods {
		if readiness.Condition(pod, corev1.PodResizePending) != nil {
			readiness.Condition(pod, corev1.PodReady).Status = corev1.ConditionFalse
		}
	}
}
