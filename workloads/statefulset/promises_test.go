package statefulset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// checkPromises: what no plan may do, whatever else happens in it.
func (j *judge) checkPromises(plan *Plan) {
	j.checkReplaced(plan)
}

// checkReplaced: of the pods that are wanted, and that hooks had prepared for
// their deletion, only so many go out of service at once as order, pause and
// budget allow.
func (j *judge) checkReplaced(plan *Plan) {
	going := map[string]bool{}
	for _, d := range plan.Delete {
		going[d.Pod.Name] = d.For == DeleteForScale
	}
	for _, p := range plan.Patch {
		going[p.Pod.Name] = p.Kind == rollout.PatchPrepare && lifecycle.StateOf(p.Pod) == lifecyclev1alpha1.StatePreparingDelete
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
