// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planCreate goes through the wanted ordinals and brings the pods there that
// are missing or have ended. With OrderedReady it ends at the first one that is
// not available, and with scaleStrategy.maxUnavailable after that many.
// (STS-4 to STS-9)
func (p *planner) planCreate() {
	budget := p.limits.scaleMaxUnavailable
	creation := p.newCreation()
	for i, slot := range p.wanted {
		if len(p.plan.Create) == rollout.MostCreations {
			return // the next reconcile, which sees them, goes on
		}
		if budget == 0 {
			p.waitForBudget(p.wanted[i:])
			return
		}
		reason := p.bring(slot, creation)
		if reason == nil {
			continue
		}
		budget--
		if p.ordered {
			p.stop(p.wanted[i+1:], reason)
			return
		}
	}
}

// bring brings a pod to a place. It returns nil if there is an available
// one, and otherwise what there is instead.
func (p *planner) bring(s slot, creation *creation) *rollout.Reason {
	switch pod := s.pod; {
	case pod == nil:
		return creation.create(s.ordinal)
	case !pod.own:
		return p.waitForOther(pod)
	case pod.terminating:
		p.Wait(pod.Pod, terminating)
		return p.order("pod %s is still terminating", pod.Name)
	case pod.leaving:
		return p.order("pod %s is replaced", pod.Name)
	case pod.ended && p.backsOff(pod):
		return p.order("pod %s has ended (%s) and never ran", pod.Name, pod.Status.Phase)
	case pod.ended:
		p.delete(pod, rollout.DeleteFailed)
		return p.order("pod %s has ended (%s) and is recreated", pod.Name, pod.Status.Phase)
	case !pod.Available && !(p.ordered && s.ending()): // one that is on its way out may wait for those behind it (STS-36)
		return p.order("pod %s is not available", pod.Name)
	}
	return nil
}

// backsOff tells whether a pod that has ended is replaced later: it never ran,
// as little as those before it.
func (p *planner) backsOff(pod *pod) bool {
	wait := p.BackOff[pod.Name].Sub(p.Now)
	if wait <= 0 || podplan.HasRun(pod.Pod) {
		return false
	}
	p.RequeueAfter(wait)
	p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleBackOff,
		Message: fmt.Sprintf("the pod has ended (%s) and never ran, nor did the one before it; it is replaced at %s", pod.Status.Phase, p.BackOff[pod.Name].UTC().Format(time.TimeOnly))})
	return true
}

var (
	terminating = &rollout.Reason{Rule: rollout.RuleNameTaken,
		Message: "the pod is terminating; its replacement has the same name and is created when it is gone"}
	parallel = &rollout.Reason{Rule: rollout.RuleOrderedReady, Message: "the pod is not available"}
)

// order is the reason why OrderedReady does not go beyond a pod. No step reads
// it with Parallel, so it is not written out there.
func (p *planner) order(format string, args ...any) *rollout.Reason {
	if !p.ordered {
		return parallel
	}
	return &rollout.Reason{Rule: rollout.RuleOrderedReady, Message: "podManagementPolicy OrderedReady: " + fmt.Sprintf(format, args...)}
}

// stop ends the walk over the places at one whose pod is not available.
func (p *planner) stop(rest []slot, reason *rollout.Reason) {
	p.stopped = reason
	p.waitForTurn(rest, reason)
}

// waitForTurn says why nothing is brought to the places that the walk does not
// come to. Pods that have ended there stay, and missing ones are not created.
func (p *planner) waitForTurn(rest []slot, reason *rollout.Reason) {
	missing := false
	for _, s := range rest {
		if s.pod == nil {
			missing = true
		} else if s.pod.own && s.pod.ended && !s.pod.terminating {
			p.Wait(s.pod.Pod, reason)
		}
	}
	if missing {
		p.Wait(nil, reason)
	}
}

func (p *planner) waitForBudget(rest []slot) {
	limit := p.limits.scaleMaxUnavailable
	p.waitForTurn(rest, &rollout.Reason{Rule: rollout.RuleScaleMaxUnavailable, Limit: limit, Observed: limit,
		Message: fmt.Sprintf("scaleStrategy.maxUnavailable %d: as many pods of lower ordinals are not available yet", limit)})
}

// waitForOther says why a place stays empty: a pod that is not the
// StatefulSet's has the name.
func (p *planner) waitForOther(other *pod) *rollout.Reason {
	switch {
	case other.terminating:
		p.Wait(other.Pod, terminating)
	case other.Kind != rollout.PatchAdopt:
		err := fmt.Errorf("create pod %s: there is one of that name which this StatefulSet does not control; delete or rename that", other.Name)
		p.Problem(failedCreate, err)
		p.Wait(nil, &rollout.Reason{Rule: rollout.RuleNameTaken, Message: err.Error()})
	}
	return p.order("pod %s is not under control yet", other.Name)
}

// creation makes pods. It counts those that are not at the update revision.
type creation struct {
	*planner
	old       int
	templates map[*appsv1.ControllerRevision]*corev1.PodTemplateSpec
}

func (p *planner) newCreation() *creation {
	c := &creation{planner: p, templates: map[*appsv1.ControllerRevision]*corev1.PodTemplateSpec{
		p.plan.Revisions.Update: &p.Set.Spec.Template,
	}}
	for _, s := range p.wanted {
		if s.pod != nil && !s.pod.Updated && !p.goesAhead(s.pod) {
			c.old++
		}
	}
	return c
}

// create plans a missing pod with the claims it lacks. It returns why the pod
// is not available. (STS-3, STS-5)
func (c *creation) create(ordinal int) *rollout.Reason {
	name := podName(c.Set.Name, ordinal)
	missing, reason := c.missingClaims(name, ordinal)
	if reason != nil {
		c.Wait(nil, reason)
		return c.order("pod %s waits for a claim", name)
	}
	from := c.revisionFor(ordinal)
	pod, err := c.newPod(name, ordinal, from)
	if err != nil {
		c.Problem(failedCreate, fmt.Errorf("create pod %s: %w", name, err))
		return c.order("pod %s cannot be created", name)
	}
	if from != c.plan.Revisions.Update {
		c.old++
	}
	c.plan.Create = append(c.plan.Create, rollout.PodCreation{Pod: pod, Claims: missing})
	return c.order("pod %s is created now", name)
}

// missingClaims lists the claims to create for a pod. A claim that is about to
// go is waited for. (STS-5)
func (c *creation) missingClaims(pod string, ordinal int) (missing []*corev1.PersistentVolumeClaim, wait *rollout.Reason) {
	for i := range c.Set.Spec.VolumeClaimTemplates {
		template := &c.Set.Spec.VolumeClaimTemplates[i]
		name := claimName(template.Name, c.Set.Name, ordinal)
		switch claim := c.Claims[name]; {
		case claim == nil:
			missing = append(missing, c.newClaim(template, ordinal))
		case claim.DeletionTimestamp != nil:
			c.Problem(failedCreate, fmt.Errorf("create pod %s: claim %s is being deleted, and is waited for", pod, name))
			return nil, waitForClaim(pod, name)
		case goesWithFormerPod(claim, pod), c.goesWithFormerSet(claim):
			return nil, waitForClaim(pod, name)
		}
	}
	return missing, nil
}

func waitForClaim(pod, claim string) *rollout.Reason {
	return &rollout.Reason{Rule: rollout.RuleClaimInUse,
		Message: fmt.Sprintf("pod %s waits until claim %s, which goes with its former owner, is gone", pod, claim)}
}

// revisionFor is the revision of a new pod. (STS-3)
func (c *creation) revisionFor(ordinal int) *appsv1.ControllerRevision {
	held := c.heldBack(ordinal)
	if c.rolling != nil && c.rolling.UnorderedUpdate != nil {
		held = c.old < int(c.limits.partition)
	}
	if c.rolling != nil && held || c.plan.Revisions.Refused != nil {
		return c.plan.Revisions.Current
	}
	return c.plan.Revisions.Update
}

// newPod makes a pod of a revision.
func (c *creation) newPod(name string, ordinal int, from *appsv1.ControllerRevision) (*corev1.Pod, error) {
	template, err := c.template(from)
	if err != nil {
		return nil, err
	}
	if err := c.Selects(template); err != nil {
		return nil, fmt.Errorf("revision %s: %w", from.Name, err)
	}
	pod := c.NewPod(name, template)
	c.LabelRevision(from.Name, func(key, value string) { pod.Labels[key] = value })
	pod.Labels[appsv1.StatefulSetPodNameLabel] = name
	if !c.Features.NoPodIndexLabel { // (STS-39)
		pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal)
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, c.Set.Spec.ServiceName
	lifecycle.SetInitialState(&pod.ObjectMeta, c.firstState(pod), c.Now)
	readiness.AddGate(&pod.Spec, lifecyclev1alpha1.KruisePodReady)
	c.mountClaims(&pod.Spec, ordinal)
	if c.Features.LaunchPriority {
		if err := barrier.Mutate(pod, ""); err != nil {
			return nil, fmt.Errorf("revision %s: %w; correct the template", from.Name, err)
		}
	}
	return pod, nil
}

// firstState is the state of a new pod: it is Normal unless its preNormal hook is not met. (STS-5, STS-36)
func (c *creation) firstState(pod *corev1.Pod) lifecyclev1alpha1.StateType {
	if hooks := c.hooks(); hooks != nil && hooks.PreNormal != nil && !lifecycle.HookedAll(hooks.PreNormal, pod) {
		return lifecyclev1alpha1.StatePreparingNormal
	}
	return lifecyclev1alpha1.StateNormal
}

func (c *creation) template(from *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	if template := c.templates[from]; template != nil {
		return template, nil
	}
	template, err := revision.Template(from.Data.Raw)
	if err != nil {
		return nil, fmt.Errorf("revision %s: %w; delete it to have its pods created from the present template", from.Name, err)
	}
	c.templates[from] = template
	return template, nil
}

// mountClaims mounts the claims of a pod in the places of volumes of their names.
func (c *creation) mountClaims(spec *corev1.PodSpec, ordinal int) {
	for i := range c.Set.Spec.VolumeClaimTemplates {
		name := c.Set.Spec.VolumeClaimTemplates[i].Name
		podplan.MountClaim(spec, name, claimName(name, c.Set.Name, ordinal))
	}
}
