// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"time"

	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// plenty is room for more pods than any subset asks for.
const plenty = 1000

// TestAdaptiveProperties checks what holds whatever is edited, and whichever subset is full. The subsets add up to spec.replicas
// and the pods that have substitutes. None has more than its maximum, and no ready pod is deleted for one elsewhere. If nothing
// changes, no ready pod moves. If a subset has plenty of room, as many pods are ready as should be. If all have, everything is as
// if none had ever been full. (UD-20, UD-21)
func TestAdaptiveProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { adaptiveHistory(t, r, rapid.SampledFrom(kinds).Draw(r, "kind")) })
}

func adaptiveHistory(t *testing.T, r *rapid.T, kind TemplateKind) {
	z := newZones(t, kind, map[string]int{"a": 3, "b": 3, "c": 3}, "replicas: 6", "topology: {scheduleStrategy: {type: Adaptive}, subsets: [{name: a}, {name: b}, {name: c}]}")
	h := &history{zones: z, T: r, edited: true}
	subset := func() string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "subset") }
	edit := func(change func(*v1alpha1.UnitedDeploymentSpec)) func(*rapid.T) {
		return func(*rapid.T) {
			z.edit(change)
			h.edited = true
		}
	}
	limit := func(what string) *intstr.IntOrString {
		switch rapid.IntRange(0, 3).Draw(r, what+" as") {
		case 0:
			return new(intstr.FromInt32(rapid.Int32Range(0, 12).Draw(r, what)))
		case 1:
			return new(intstr.FromString(fmt.Sprint(rapid.IntRange(0, 100).Draw(r, what), "%")))
		}
		return nil
	}
	wait := func(r *rapid.T) {
		by := time.Duration(rapid.SampledFrom([]int{1, 5, 20, 40}).Draw(r, "seconds")) * time.Second
		for range rapid.IntRange(1, 6).Draw(r, "times") {
			h.tick(by)
		}
	}
	r.Repeat(map[string]func(*rapid.T){
		"wait": wait, "wait longer": wait,
		"replicas": edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(rapid.Int32Range(0, 12).Draw(r, "replicas")) }),
		"limits": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
			for i := range s.Topology.Subsets {
				one := &s.Topology.Subsets[i]
				if one.Replicas, one.MinReplicas, one.MaxReplicas = nil, limit("minimum"), limit("maximum"); rapid.IntRange(0, 4).Draw(r, "fixed") == 0 {
					one.Replicas = limit("number")
				}
			}
		}),
		"reserve": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
			s.Topology.ScheduleStrategy.Adaptive = &v1alpha1.AdaptiveUnitedDeploymentStrategy{ReserveUnschedulablePods: rapid.Bool().Draw(r, "reserve")}
		}),
		"image": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
			podTemplate(&s.Template).Spec.Containers[0].Image = rapid.SampledFrom([]string{"a", "b"}).Draw(r, "image")
		}),
		"nodes":       func(*rapid.T) { z.room[subset()] = rapid.SampledFrom([]int{0, 1, 2, 5, plenty}).Draw(r, "room") },
		"nodes go":    func(*rapid.T) { z.evict(subset(), rapid.IntRange(0, 3).Draw(r, "room")) },
		"pods hang":   func(*rapid.T) { z.slow[subset()] = true },
		"pods go on":  func(*rapid.T) { clear(z.slow) },
		"it is stuck": func(*rapid.T) { h.stays() },
	})
	clear(z.slow)
	h.stays()
	for name := range z.room {
		z.room[name] = plenty
	}
	h.recovers()
}

// history is a random history of zones.
type history struct {
	*zones
	*rapid.T
	edited bool // since the last plan
}

// tick checks what must hold at any time.
func (h *history) tick(by time.Duration) *Plan {
	before := h.zones.ready()
	plan := h.plan()
	replicas := ptr.Deref(h.Set.Spec.Replicas, 1)
	target, err := allocateWithin(replicas, h.Set.Spec.Topology.Subsets, nil)
	if err != nil {
		h.T.Fatal(err)
	}
	var sum, reserved int32
	for i, subset := range plan.Subsets {
		sum, reserved = sum+subset.Replicas, reserved+subset.Reserved
		most := int32(plenty)
		if limit := h.Set.Spec.Topology.Subsets[i].MaxReplicas; limit != nil && h.Set.Spec.Topology.Subsets[i].Replicas == nil {
			most, _, _ = specified(limit, replicas)
		}
		if subset.Replicas > max(most, target.Replicas[i]) {
			h.T.Fatalf("UD-20: %s gets %d pods, want at most %d", subset.Name, subset.Replicas, most)
		}
	}
	if sum != replicas+reserved+plan.Kept || plan.Status.ReservedPods != reserved {
		h.T.Fatalf("UD-21.3: %d pods, want %d, %d with substitutes, and %d that are held: %v", sum, replicas, reserved, plan.Kept, h.zones)
	}
	h.scale()
	if now := h.zones.ready(); now < min(before, replicas) && !h.edited {
		h.T.Fatalf("UD-21.2: %d of %d ready pods are left, of %d that should be: %v", now, before, replicas, h.zones)
	}
	h.edited = false
	h.update()
	h.schedule()
	h.Now = h.Now.Add(by)
	return plan
}

// stays lets time go by while nothing changes.
func (h *history) stays() {
	for range 80 {
		h.tick(20 * time.Second)
	}
	if len(h.slow) > 0 {
		return
	}
	replicas, ready, writes := ptr.Deref(h.Set.Spec.Replicas, 1), h.zones.ready(), 0
	for range 45 { // three times as long as a subset is closed
		if plan := h.tick(20 * time.Second); plan.String() != "" {
			writes++
		}
		if now := h.zones.ready(); now != ready {
			h.T.Fatalf("UD-21.2: nothing changes, and %d pods are ready, then %d: %v", ready, now, h.zones)
		}
	}
	if tries := 3 * len(h.room); writes > 4*tries { // each opens, runs pods of others, closes, and gives them back
		h.T.Fatalf("UD-21: nothing changes, and %d of 45 plans write something: %v", writes, h.zones)
	}
	for _, subset := range h.Set.Spec.Topology.Subsets {
		if subset.Replicas == nil && subset.MaxReplicas == nil && h.room[subset.Name] == plenty && ready < replicas {
			h.T.Fatalf("UD-21: there is room in %s, and %d pods are ready, want %d: %v", subset.Name, ready, replicas, h.zones)
		}
	}
}

// recovers has everything as it should be if there is room.
func (h *history) recovers() {
	for range 60 {
		h.tick(20 * time.Second)
	}
	plan := h.tick(time.Second)
	replicas := ptr.Deref(h.Set.Spec.Replicas, 1)
	target, _ := allocateWithin(replicas, h.Set.Spec.Topology.Subsets, nil)
	for i, subset := range plan.Subsets {
		condition := schedulable(&h.Set.Status.SubsetStatuses[i])
		if subset.Replicas != target.Replicas[i] || condition.Status != corev1.ConditionTrue {
			h.T.Fatalf("UD-21.4: %s has %d pods, want %d, condition %v", subset.Name, subset.Replicas, target.Replicas[i], condition)
		}
	}
	for _, pod := range h.Pods {
		if pod.Labels[v1alpha1.ReservedPodLabel] != "" {
			h.T.Fatalf("UD-21.3: %s is marked as reserved", pod.Name)
		}
	}
	if plan.String() != "" || plan.RequeueAfter != 0 || h.zones.ready() != replicas {
		h.T.Fatalf("UD-21.4: %d pods of %d are ready, the plan is %v, again after %v", h.zones.ready(), replicas, plan, plan.RequeueAfter)
	}
}
