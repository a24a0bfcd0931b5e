// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// Plan is what to do about a WorkloadSpread now: data, to be looked at, compared and applied. The
// same Snapshot gives the same Plan.
type Plan struct {
	// Patches are the pods to write, by name.
	Patches []PodPatch
	// Status is the status to write; nil if it stands already.
	Status *v1alpha1.WorkloadSpreadStatus
	// Computed is what the plan was made of; nil if it cannot be told. Its Deletions are the pods to delete
	// once the status is written, each if the pods of its After are patched. At most MayDelete go at once.
	*spread.Computed

	// Held lists what holds the subsets up, each with the subset that it is in. What has for a minute is told by their condition HeldUp. (WS-32)
	Held []rollout.Wait
	// Unrecognized tells that the target is of no kind that is spread. (WS-24)
	Unrecognized bool
	// Problems say why nothing can be told, and nothing changes. Empty if it can.
	Problems []rollout.Problem

	holds map[held]bool // what Held lists
}

// PodPatch is what to write into a pod.
type PodPatch struct {
	// Pod is the pod as it was observed, and Subset the name of its subset.
	Pod    *corev1.Pod
	Subset string
	// Annotations and Labels are what to write; a nil value removes one.
	Annotations, Labels map[string]*string
}

// NewPlan decides what to do about a WorkloadSpread. It never fails: a Snapshot without one gives an
// empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &Plan{}
	if s == nil || s.Spread == nil {
		p.Problems = rollout.ProblemsOf(errors.New("the Snapshot has no Spread; give it the WorkloadSpread to plan for"))
		return p
	}
	target, known := spread.KindOf(s.Spread)
	if p.Unrecognized = !known && !s.Custom; p.Unrecognized {
		s.holdTarget(p)
		s.tell(p)
		return p
	}
	s.holdTarget(p)
	if s.holder() != nil {
		p.Computed = spread.Compute(spread.State{Spread: s.Spread, Now: s.Now})
		s.tell(p)
		return p
	}
	if s.Unread {
		s.tell(p)
		p.Problems = rollout.ProblemsOf(fmt.Errorf("nothing reads the kind %s that targetRef names: give Options.Workloads", target))
		return p
	}
	if w := s.Workload; w != nil && w.Unknown != nil && !w.Deleting && spread.InPercent(s.Spread) {
		s.tell(p)
		p.Problems = rollout.ProblemsOf(fmt.Errorf("percentages of nothing: %w", w.Unknown))
		return p
	}
	state := spread.State{Spread: s.Spread, Workload: s.Workload, Pods: s.Pods, Moved: s.Moved, Now: s.Now}
	if s.Nodes != nil {
		state.Node = func(name string) *corev1.Node { return s.Nodes[name] }
	}
	p.Computed = spread.Compute(state)
	p.patchPods()
	s.holdSubsets(p)
	s.tell(p)
	return p
}

// patchPods plans one patch for each pod that is adopted or costs something else, but for those that
// are deleted. (WS-23)
func (p *Plan) patchPods() {
	patches := make(map[string]*PodPatch, max(len(p.Adopt), len(p.Costs)))
	patch := func(pod *corev1.Pod, subset string) *PodPatch {
		to := patches[pod.Name]
		if to == nil {
			to = &PodPatch{Pod: pod, Subset: subset, Annotations: map[string]*string{}}
			patches[pod.Name] = to
		}
		return to
	}
	for _, a := range p.Adopt {
		to := patch(a.Pod, a.Subset)
		maps.Copy(to.Annotations, a.Annotations)
		to.Labels = a.Labels
	}
	for _, c := range p.Costs {
		patch(c.Pod, c.Subset).Annotations[corev1.PodDeletionCost] = new(strconv.Itoa(int(c.Cost)))
	}
	for _, d := range p.Deletions {
		delete(patches, d.Pod.Name)
	}
	p.Patches = slices.Grow(p.Patches, len(patches))
	for _, name := range slices.Sorted(maps.Keys(patches)) {
		p.Patches = append(p.Patches, *patches[name])
	}
}

// patch is the patch itself.
func (p *PodPatch) patch() podpatch.Patch {
	return podpatch.Patch{Annotations: p.Annotations, Labels: p.Labels}
}

// String says what the plan does, a line for each thing; empty for nothing.
func (p *Plan) String() string {
	var lines []string
	for i := range p.Patches {
		lines = append(lines, p.Patches[i].String())
	}
	if p.Status != nil {
		lines = append(lines, "status: "+describe(p.Status))
	}
	if p.Computed != nil {
		for _, d := range p.Deletions {
			line := fmt.Sprintf("delete %s of %s: %s", d.Pod.Name, d.Subset, d.Why)
			if len(d.After) > 0 {
				line += ", after it has adopted " + strings.Join(d.After, ", ")
			}
			lines = append(lines, line)
		}
		if len(p.Deletions) > p.MayDelete {
			lines = append(lines, fmt.Sprintf("delete at most %d for now", p.MayDelete))
		}
	}
	if p.Unrecognized {
		lines = append(lines, v1alpha1.TargetReferenceErrorMessage)
	}
	for _, problem := range p.Problems {
		lines = append(lines, problem.String())
	}
	return strings.Join(lines, "\n")
}

// String says what is written.
func (p *PodPatch) String() string {
	text := fmt.Sprintf("patch %s of %s:", p.Pod.Name, p.Subset)
	for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
		text += " " + show(key, p.Annotations[key])
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		text += " label " + show(key, p.Labels[key])
	}
	return text
}

func show(key string, value *string) string {
	if value == nil {
		return "-" + key
	}
	return key + "=" + *value
}

// describe shows a status: of each subset the pods that it has, and that it misses.
func describe(status *v1alpha1.WorkloadSpreadStatus) string {
	var subsets []string
	for _, s := range status.SubsetStatuses {
		text := fmt.Sprintf("%s has %d", s.Name, s.Replicas)
		if s.MissingReplicas != spread.Unlimited {
			text += fmt.Sprintf(", misses %d", s.MissingReplicas)
		}
		for _, c := range s.Conditions {
			if c.Type == v1alpha1.SubsetHeldUp {
				text += ", HeldUp " + c.Reason
			} else if c.Status != corev1.ConditionTrue {
				text += fmt.Sprintf(", %s %s", c.Type, c.Status)
			}
		}
		subsets = append(subsets, text)
	}
	return strings.Join(subsets, "; ")
}
