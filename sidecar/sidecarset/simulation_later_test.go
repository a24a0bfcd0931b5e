// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulationOfLater plays histories of users who set what came after OpenKruise 1.4, with the switches off and on.
func TestSimulationOfLater(t *testing.T) {
	simulation.Check(t, later(bug{}, Features{}), later(bug{}, FeaturesOf(podwright.Release19)))
}

// later is played by users of fields that came after OpenKruise 1.4, with features unless the bug has others.
func later(bug bug, f Features) *simulation.Subject {
	options := bug.Options
	bug.Options = func(o *Options) {
		o.Features = f
		if options != nil {
			options(o)
		}
	}
	w := simulated(bug)
	w.Judge = judgedAs(injection.Features{}, f)
	w.Act = bug.Act(func(u *simulation.User, r *rand.Rand) {
		switch pod := u.AnyPod(r); {
		case r.IntN(4) > 0:
			act(u, r)
		case r.IntN(4) == 0:
			actNeighbour(u, r)
		case pod != nil && r.IntN(2) == 0:
			u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{"rank":%s}}}`, []string{"null", `"r-9"`, `"r-10"`, `"first"`}[r.IntN(4)]))
		case r.IntN(8) == 0:
			u.Err(r, laterMistakes)
		default:
			u.Edit(simulation.AnyEdit(r, laterEdits))
		}
	})
	w.Push = func(u *simulation.User) {
		u.Edit(laterMistakes[0][1])
		push(u)
	}
	return w
}

// neighbour is a SidecarSet that comes and goes. It selects no pod any more of which it has said something.
const neighbour = "neighbour"

// actNeighbour has the controller of the neighbour say of a pod whether it can update it, or the neighbour come or go.
func actNeighbour(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch r.IntN(4) {
	case 0:
		set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: neighbour}}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}}
		set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: neighbour, Image: "a"}}}
		u.CreateObject("sidecarsets", set)
	case 1:
		u.DeleteObject("sidecarsets", neighbour, metav1.DeletePropagationBackground)
	default:
		if pod == nil {
			return
		}
		sayUpgradable(u, pod, r.IntN(2) == 0)
	}
}

// sayUpgradable has the controller of the neighbour say of a pod whether it can update it, beside what others have said. (SCS-33)
func sayUpgradable(u *simulation.User, pod *corev1.Pod, is bool) {
	said := map[string]bool{}
	c := corev1.PodCondition{Type: v1alpha1.SidecarSetUpgradable, LastTransitionTime: metav1.Now()}
	for _, before := range pod.Status.Conditions {
		if before.Type == c.Type {
			c = before
			_ = json.Unmarshal([]byte(c.Message), &said) // otherwise nothing is said
		}
	}
	if said == nil {
		said = map[string]bool{}
	}
	said[neighbour] = is
	was := c.Status
	c.Status, c.Reason = corev1.ConditionTrue, v1alpha1.AllSidecarSetUpgradableReason
	if slices.Contains(slices.Collect(maps.Values(said)), false) {
		c.Status, c.Reason = corev1.ConditionFalse, v1alpha1.UpdateImmutableFieldReason
	}
	if was != c.Status {
		c.LastTransitionTime = metav1.Now()
	}
	c.Message = encoded(said)
	u.PatchPod(pod.Name, fmt.Sprintf(`{"status":{"conditions":[%s]}}`, encoded(c)), "status")
}

// laterEdits are what users change about fields that came after OpenKruise 1.4.
var laterEdits = simulation.ReadEdits("laterEdits")

// laterMistakes are what only a webhook would refuse.
var laterMistakes = simulation.ReadMistakes("laterMistakes")

// TestSimulationFindsBugsOfLater plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfLater(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return later(b, FeaturesOf(podwright.Release19)) })
	plant("the priority is ignored", invariants.Order, 0, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.PriorityStrategy = nil }).While(updateByPriority))
	plant("the last key counts first", invariants.Order, 0, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) {
		if s.PriorityStrategy != nil {
			slices.Reverse(s.PriorityStrategy.OrderPriority)
		}
	}).While(updateByPriority))
	roundsDown := bug{Options: func(o *Options) { o.Features.PartitionRoundsUp = false }}
	plant("the partition is rounded down", invariants.Partition, 0, roundsDown.While(updatePart))
	plant("revisions do not say that they replace", invariants.History, 0, bug{Options: func(o *Options) { o.Features.ReplacePatch = false }})
	plant("pods say the contrary", invariants.Status, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		for i := range p.Patch.Conditions {
			c := &p.Patch.Conditions[i]
			c.Message = strings.NewReplacer("true", "false", "false", "true").Replace(c.Message)
		}
		return true
	}))
	plant("pods go on to say that they cannot be updated", invariants.Settled, 2, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		return p.Kind != patchUpgradable || strings.Contains(p.Patch.Conditions[0].Message, "false")
	}))
	plant("what SidecarSets have said stays when they are gone", invariants.Settled, 2, misreading(func(s *Snapshot) { s.Gone = nil }))
	plant("what other SidecarSets say goes", invariants.Status, 0, misreading(func(s *Snapshot) {
		s.Gone = maps.Clone(s.Gone)
		for name := range s.Gone {
			s.Gone[name] = name != s.Set.Name
		}
	}).While(actNeighbour))
}

// updateByPriority updates some of the pods, by the labels that they have.
func updateByPriority(u *simulation.User, r *rand.Rand) {
	if r.IntN(2) == 0 {
		updateInTurn(u, r)
		return
	}
	for i, pod := range u.Pods() {
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"labels":{"zone":%s,"rank":"r-%d"}}}`, []string{"null", `"z"`}[i%2], i))
	}
	u.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","maxUnavailable":"100%","partition":1,"paused":false,"selector":null,"scatterStrategy":null,` +
		`"priorityStrategy":{"weightPriority":null,"orderPriority":[{"orderedKey":"zone"},{"orderedKey":"rank"}]}}}}`)
}
