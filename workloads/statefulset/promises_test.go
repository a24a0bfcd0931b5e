// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// checkPromises: what no plan may do, whatever else happens in it.
func (j *judge) checkPromises(plan *Plan) {
	j.checkReplaced(plan)
	j.checkContained(plan)
	j.checkRefused(plan)
}

// checkRefused: what goes on if the API server refuses the first stage keeps
// to the same rules, and is planned only in place of something.
func (j *judge) checkRefused(plan *Plan) {
	if plan.Otherwise.Empty() {
		return
	}
	if len(plan.Create)+len(plan.Delete) == 0 && !slices.ContainsFunc(plan.Patch, func(p rollout.PodPatch) bool { return p.Kind.AffectsAvailability() }) {
		j.fail(plan, "plans %+v in place of nothing", plan.Otherwise)
	}
	refused := *plan
	refused.Stages = rollout.Stages{Stage: plan.Otherwise}
	moves(&refused).CheckOnce(j.T)
	if j.ordered {
		j.checkOrder(&refused)
	}
	j.checkUpdate(&refused)
	j.checkContained(&refused)
}

// checkContained: an update whose pods do not work goes no farther than order and
// budget let it, whatever becomes of the other pods.
func (j *judge) checkContained(plan *Plan) {
	current, update := plan.Revisions.Current, plan.Revisions.Update
	back := plan.Revisions.Create == nil && update.CreationTimestamp.Before(&current.CreationTimestamp)
	var broken []int // ordinals of pods that have the update and do not serve
	for _, ordinal := range j.wanted {
		switch pod := j.pods[ordinal]; {
		case pod == nil || !j.own(pod) || pod.DeletionTimestamp != nil || pod.Labels[podplan.RevisionLabel] != update.Name:
		case j.available(pod):
			return
		default:
			broken = append(broken, ordinal)
		}
	}
	if len(broken) == 0 || back {
		return
	}
	moved := 0
	for _, pod := range j.updated(plan) {
		if state := lifecycle.StateOf(pod); pod.Labels[podplan.RevisionLabel] != current.Name || state == lifecyclev1alpha1.StatePreparingUpdate {
			continue
		}
		moved++
		before := len(broken)
		if j.rolling.UnorderedUpdate == nil {
			before = 0
			for _, ordinal := range broken {
				if ordinal > j.ordinal(pod) {
					before++
				}
			}
		}
		if j.ordered || before+moved > j.max {
			j.fail(plan, "updates pod %s of the current revision, although the update does not work for %v", pod.Name, broken)
		}
	}
}

// checkReplaced is about wanted pods that hooks had prepared for their deletion. Only so many go out of service at once as order,
// pause and budget allow.
func (j *judge) checkReplaced(plan *Plan) {
	going := map[string]bool{}
	for _, d := range plan.Delete {
		going[d.Pod.Name] = d.For == rollout.DeleteForScale
	}
	for _, p := range plan.Patch {
		forUpdate := !j.rolling.Paused && p.Pod.Labels[podplan.RevisionLabel] != plan.Revisions.Update.Name
		going[p.Pod.Name] = p.Kind == rollout.PatchPrepare && lifecycle.StateOf(p.Pod) == lifecyclev1alpha1.StatePreparingDelete && !forUpdate
	}
	var taken []*corev1.Pod
	down := 0
	for _, ordinal := range j.wanted {
		switch pod := j.pods[ordinal]; {
		case pod != nil && going[pod.Name] && j.ready(pod):
			taken = append(taken, pod)
		case pod == nil || !j.available(pod) || going[pod.Name]:
			down++
		}
	}
	switch {
	case len(taken) == 0:
	case j.rolling.Paused:
		j.fail(plan, "paused: replaces %s, which are ready", j.Aliases(taken))
	case j.ordered && len(taken)+down > 1:
		j.fail(plan, "OrderedReady: replaces %s beside %d that are not available", j.Aliases(taken), down)
	case len(taken)+down > j.max:
		j.fail(plan, "maxUnavailable %d: replaces %s beside %d that are not available", j.max, j.Aliases(taken), down)
	}
}
