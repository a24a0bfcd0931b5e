// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// StatefulSetSettled judges a StatefulSet that has settled, whose past is not known.
func StatefulSetSettled(s *State, converged bool) []Violation {
	return (*Past)(nil).StatefulSetSettled(s, converged)
}

// StatefulSetSettled judges a StatefulSet that has settled. With converged, it must be as its spec wants it. It has an
// available pod for each wanted ordinal, with its claims, and no other pod. Each pod is updated if no partition holds
// it back.
func (p *Past) StatefulSetSettled(s *State, converged bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1beta1.StatefulSet)
	if !ok {
		return nil
	}
	j := newStatefulSetJudge(&v, &Write{Known: s, Observed: s, Truth: s}, set, p)
	if s.refuses("create", "controllerrevisions") && updateRevision(&set.Spec.Template, s.Revisions) == "" {
		return nil // without the revision of the template nothing is known of the update
	}
	v.compareGeneration(set.Status.ObservedGeneration, set.Generation)
	if j.broken {
		if set.DeletionTimestamp == nil {
			consumersOf(&set.Status).checkUnreadable(&v)
		}
		return v
	}
	j.checkCounters(&set.Status, s)
	if selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector); err == nil && set.Status.LabelSelector != selector.String() {
		v.add(Status, "labelSelector is %q, the selector %q", set.Status.LabelSelector, selector)
	}
	if set.DeletionTimestamp != nil {
		return v
	}
	j.checkConsumers(&set.Status, consumersOf(&set.Status), s)
	j.checkSettledRevisions(s)
	j.checkSaysDead(s)
	j.checkSaysMount(s)
	if !s.refuses("patch", "persistentvolumeclaims") {
		j.checkSettledClaims(s)
	}
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; (rolling == nil || !rolling.Paused) && len(s.Refused) == 0 {
		checkPrepared(&v, s, j.turnComes, &set.Status)
	}
	if j.update != "" && !j.ordered && matches(set.Spec.Selector, set.Spec.Template.Labels) {
		j.checkBrought(s)
		j.checkUpdated(s)
	}
	if converged {
		j.checkConverged(s)
	}
	return v
}

// turnComes tells whether a pod is the set's, and nothing halts what is to become of it. With OrderedReady no pod
// beyond the replicas is deleted while a wanted one is not available. (STS-8)
func (j *statefulSetJudge) turnComes(pod *corev1.Pod) bool {
	halted := j.ordered && !j.isWanted(pod.Name) &&
		slices.ContainsFunc(j.wanted, func(ordinal int) bool { return !j.orderly(j.at(ordinal)) })
	return j.owned(pod) && !halted
}

// checkSettledRevisions: when settled the status names the revision of the template, and the current revision follows a
// complete update. The history is no longer than its limit.
func (j *statefulSetJudge) checkSettledRevisions(s *State) {
	status := &j.set.Status
	if j.update == "" || shortHash(status.UpdateRevision) != j.update {
		j.add(Status, "updateRevision is %s, the template is that of %q", status.UpdateRevision, j.update)
		return
	}
	j.never(j.advances() && shortHash(status.CurrentRevision) != j.update, Status,
		"currentRevision is %s, and the update to %s is complete", status.CurrentRevision, j.update)
	j.history().checkLeft(j.violations, s)
}

// checkSaysDead: if a wanted pod is not available on a dead node, HeldUp tells what holds the StatefulSet up. (STS-29)
func (j *statefulSetJudge) checkSaysDead(s *State) {
	for _, ordinal := range j.wanted {
		pod := j.at(ordinal)
		j.never(pod != nil && onDeadNode(s, pod) && !j.available(pod) && !j.saysHeldUp(), Status,
			"pod %s waits for a dead node, and no condition HeldUp says so", j.podName(ordinal))
	}
}

func (j *statefulSetJudge) saysHeldUp() bool { return conditionOf(&j.set.Status, heldUp) != nil }

// checkBrought: with Parallel no place is empty that scaleStrategy.maxUnavailable lets be filled. (STS-9)
func (j *statefulSetJudge) checkBrought(s *State) {
	down := 0
	for _, ordinal := range j.wanted {
		if pod := j.at(ordinal); pod == nil && down < j.scaleUnavailable && !s.refuses("create", "pods") && !s.refuses("create", "persistentvolumeclaims") {
			j.add(Settled, "there is no pod %d, and %d of lower ordinals are not available, scaleStrategy.maxUnavailable %d", ordinal, down, j.scaleUnavailable)
		}
		count(&down, !j.available(j.at(ordinal)))
	}
}

// checkUpdated: with Parallel no pod waits for the update that maxUnavailable lets
// go, whatever else is refused. One that serves also waits for those beyond the update. (STS-18)
func (j *statefulSetJudge) checkUpdated(s *State) {
	p := j.rolling
	if p == nil || p.Paused || p.UnorderedUpdate != nil || p.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType ||
		s.refuses("delete", "pods") || s.refuses("patch", "pods") || s.refuses("patch", "persistentvolumeclaims") {
		return
	}
	down := 0
	for _, ordinal := range slices.Backward(j.wanted) {
		pod := j.at(ordinal)
		if j.below(ordinal) || down >= j.unavailable {
			return
		}
		if j.owned(pod) && pod.DeletionTimestamp == nil && !ended(pod) && shortHash(pod.Labels[revisionLabel]) != j.update && !j.lacksSpace(pod) {
			if j.inService(pod) && j.countOut(pod, nil) >= j.unavailable {
				continue
			}
			j.add(Settled, "pod %d waits for its update to %s, and %d of higher ordinals do not serve, maxUnavailable %d", ordinal, j.update, down, j.unavailable)
		}
		count(&down, !j.servesUpdated(pod))
	}
}

// checkConverged: wanted pods are there and serve, those that the partition does
// not hold back at the update revision, and there are no others.
func (j *statefulSetJudge) checkConverged(s *State) {
	updated, lacking, spoilt, missing := 0, 0, 0, 0
	down := 0 // pods that wait for a claim, or for space, and may stay as they are
	obstructed := j.checkGrown(s)
	for _, ordinal := range j.wanted {
		pod := j.at(ordinal)
		if !j.available(pod) || !serves(pod) || !runs(pod) {
			switch { // what no update mends, and users are told
			case pod == nil && down > 0 && (j.ordered || down >= j.scaleUnavailable):
				missing++
				continue
			case pod != nil && unreadable(pod) && j.below(ordinal):
				spoilt++
				continue
			case j.cannotGrow(pod) && shortHash(pod.Labels[revisionLabel]) != j.update: // so that it is not updated, as users are told, and others wait for it
				down++
				continue
			case pod != nil && waitsForClaim(pod, s) && j.lacksClaims(pod, s):
				lacking++
				count(&down, j.mayStay(pod))
				continue
			}
			j.add(Settled, "pod %d does not serve", ordinal)
			continue
		}
		switch at := j.servesUpdated(pod); {
		case at:
			updated++
		case j.rolling != nil && j.rolling.UnorderedUpdate == nil && !j.below(ordinal) && !j.cannotGrow(pod):
			j.add(Settled, "pod %d does not serve at revision %s", ordinal, j.update)
		}
		count(&lacking, j.lacksClaims(pod, s))
		count(&spoilt, unreadable(pod)) // the same
	}
	j.never(j.rolling != nil && j.rolling.UnorderedUpdate != nil && updated+missing+obstructed < len(j.wanted)-j.partition, Settled,
		"%d pods serve at revision %s, %d are wanted, the partition is %d", updated, j.update, len(j.wanted), j.partition)
	n := int(j.set.Status.Replicas)
	j.never(n != len(j.wanted)-missing, Settled, "%d pods, wanted are %v", n, j.wanted)
	checkNoProblem(j.violations, &j.set.Status, func(c told) bool {
		named := func(claim string) bool { return strings.HasPrefix(c.message, "claim "+claim+": ") }
		return c.of == heldUp && (obstructed > 0 || j.tooSmall(s) || slices.ContainsFunc(j.waitingForMount(s), named)) || // (STS-45)
			c.of == string(v1beta1.StatefulSetConditionFailedUpdatePod) && lacking+spoilt+obstructed > 0
	})
	if j.rolling != nil && j.rolling.UnorderedUpdate != nil { // they may be those that stay
		obstructed = max(obstructed-j.partition, 0)
	}
	j.never(lacking+obstructed > 0 && !consumersOf(&j.set.Status).problems, Status,
		"%d pods do not mount their claims, claims of %d cannot grow, and no condition says so", lacking, obstructed)
}

// mayStay tells whether a pod that does not serve may have to stay at an old revision. The user has taken it out of the
// update, or forbids recreating pods.
func (j *statefulSetJudge) mayStay(pod *corev1.Pod) bool {
	return shortHash(pod.Labels[revisionLabel]) != j.update && (j.rolling == nil || j.partition > 0 || j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType)
}

// lacksClaims tells whether a pod mounts no claim of some template. The template was added later, or the pod was
// adopted. The volumes of a pod cannot change (STS-E19). Claims that it does mount must be there.
func (j *statefulSetJudge) lacksClaims(pod *corev1.Pod, s *State) (lacks bool) {
	for _, template := range j.set.Spec.VolumeClaimTemplates {
		name := template.Name + "-" + pod.Name
		switch claim := s.Claims[name]; {
		case !mounts(pod, name):
			lacks = true
		case pod.CreationTimestamp.Before(&j.set.CreationTimestamp): // it was adopted, and its claims may have gone with a former set
		case claim == nil: // one that was deleted stays as long as a pod mounts it
			j.add(Claims, "pod %s is there, and claim %s is not", pod.Name, name)
		}
	}
	return lacks
}

// waitsForClaim tells whether a pod is not scheduled since a claim that it mounts is gone.
func waitsForClaim(pod *corev1.Pod, s *State) bool {
	return pod.Spec.NodeName == "" && slices.ContainsFunc(claimsIn(pod), func(claim string) bool { return s.Claims[claim] == nil })
}
