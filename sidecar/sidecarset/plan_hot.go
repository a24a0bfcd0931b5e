// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"maps"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// planResets empties the hot containers that an upgrade has left behind. A pod that serves is
// out of service while its kubelet stops one, so that the strategy holds that back like an
// update. Those that were refused come last: they hold up themselves alone. (SCS-15, SCS-18, CT-10)
func (p *planner) planResets() {
	var flipping []*pod
	out := int32(0) // others have the place of their update, and serve
	for _, pod := range p.pods {
		if p.flipping(pod) {
			flipping = append(flipping, pod)
		}
		if pod.out && !(pod.serves() && pod.waiting == "") {
			out++
		}
	}
	for _, pod := range rollout.RefusedLast(&p.Refused, flipping, (*pod).shared) {
		reason := p.awaitsReset(pod)
		if reason == nil && pod.serves() && out >= p.plan.Rollout.MaxUnavailable {
			reason = p.full(out)
		}
		if reason != nil {
			if pod.Updated { // others say why they are not
				p.Wait(pod.Pod, reason)
			}
			continue
		}
		if p.BacksOff(&pod.View) {
			continue
		}
		if err := p.reset(pod); err != nil {
			p.PodProblem(&pod.View, err)
		} else if pod.serves() {
			out++
		}
	}
}

// awaitsReset says why the hot containers of a pod that do not work any more cannot be
// emptied yet; nil if they can. (SCS-18, SCS-20)
func (p *planner) awaitsReset(pod *pod) *rollout.Reason {
	switch strategy := &p.set.Spec.UpdateStrategy; {
	case strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType:
		return notUpdate
	case strategy.Paused:
		return paused
	}
	works := func(name string) bool { return !p.isIdle(pod, name) }
	if waiting := p.inconsistent(pod, works); waiting != "" {
		return &rollout.Reason{Rule: ruleHotUpgrade, Message: waiting + "; the containers that it replaces go on meanwhile"}
	}
	if starting := p.starts(pod, works); starting != "" {
		return &rollout.Reason{Rule: ruleHotUpgrade, Message: starting + "; the containers that it replaces go on meanwhile"}
	}
	if !lifecycle.Ready(pod.Pod) {
		for _, name := range p.mustServe(pod) {
			if !podstate.LastingReady(pod.Pod, name) && works(name) {
				return &rollout.Reason{Rule: ruleHotUpgrade,
					Message: fmt.Sprintf("container %s is not ready; the hot containers that do not work any more go on meanwhile", name)}
			}
		}
	}
	return p.workloadUpdates(pod)
}

// mustServe are the containers of a pod that the kubelet has reported on, and the SidecarSet's native sidecars in it.
func (p *planner) mustServe(pod *pod) (names []string) {
	for i := range pod.Status.ContainerStatuses {
		names = append(names, pod.Status.ContainerStatuses[i].Name)
	}
	for i := range p.sidecars {
		if s := &p.sidecars[i]; s.native && podstate.Lasting(pod.Pod, s.name) != nil {
			names = append(names, s.name)
		}
	}
	return names
}

// isIdle tells whether a container is the one of a hot one that does not work.
func (p *planner) isIdle(pod *pod, name string) bool {
	for i := range p.sidecars {
		if s := &p.sidecars[i]; s.hot && pod.idle(s) == name {
			return true
		}
	}
	return false
}

// reset empties the hot containers of a pod that do not work any more. The hash that the
// pod has stays. (SCS-18)
func (p *planner) reset(pod *pod) error {
	c := p.change(pod)
	for i := range p.sidecars {
		s := &p.sidecars[i]
		if !s.hot || pod.emptied(s, pod.idle(s)) {
			continue
		}
		idle, working := pod.idle(s), pod.worker(s)
		if err := c.replace(idle, s.empty); err != nil {
			return err
		}
		c.SetAnnotation(v1alpha1.SidecarSetVersionAnnotationPrefix+idle, "0")
		c.SetAnnotation(v1alpha1.SidecarSetVersionAltAnnotationPrefix+working, "0")
	}
	if err := c.record(); err != nil {
		return err
	}
	pod.Patch, pod.Kind, pod.ForUpdate = c.Patch, PatchReset, true
	return nil
}

// awaitsFlip says why the hot upgrade before has to be over first. It is nil if that
// upgrade is over, and also if the pod does not serve. What that upgrade brought may be
// the reason, and the next one the repair. Only containers whose image changes count.
// (SCS-19)
func (p *planner) awaitsFlip(pod *pod) *rollout.Reason {
	for i := range p.sidecars {
		s := &p.sidecars[i]
		if !s.hot || p.works(pod, s) {
			continue
		}
		idle := pod.idle(s)
		if !pod.emptied(s, idle) {
			if pod.serves() {
				return &rollout.Reason{Rule: ruleHotUpgrade,
					Message: fmt.Sprintf("the hot upgrade before is not over: container %s has still to be emptied", idle)}
			}
			continue
		}
		if waiting := p.awaits(pod, idle); waiting != "" && !inplace.Stopped(pod.Pod, idle) {
			return &rollout.Reason{Rule: ruleHotUpgrade, Message: "the hot upgrade before is not over: " + waiting}
		}
	}
	return nil
}

// upgradeHot gives one of both containers of a hot one its new image, and has it work from
// then on. (SCS-16, SCS-17)
func (c *change) upgradeHot(s *sidecar, works map[string]string) error {
	pod, version := c.pod.Pod, c.p.Set.ResourceVersion
	if c.p.works(c.pod, s) {
		return nil
	}
	upgraded, other := c.p.upgraded(c.pod, s)
	if podstate.Container(pod, other).Image == s.image { // a way back, while the new one does not serve
		upgraded, other = other, upgraded
	}
	if err := c.replace(upgraded, s.image); err != nil {
		return err
	}
	works[s.name] = upgraded
	const is, alt = v1alpha1.SidecarSetVersionAnnotationPrefix, v1alpha1.SidecarSetVersionAltAnnotationPrefix
	c.SetAnnotation(is+upgraded, version)
	c.SetAnnotation(alt+upgraded, pod.Annotations[is+other])
	c.SetAnnotation(alt+other, version)
	return nil
}

// upgraded is that one of both containers of a hot one that gets the new image. It is an
// empty one, or the one that does not serve if the other does. Otherwise it is the one
// that does not work. (SCS-16)
func (p *planner) upgraded(pod *pod, s *sidecar) (upgraded, other string) {
	serves := func(name string) bool { return podstate.ContainerReady(pod.Pod, name) && p.awaits(pod, name) == "" }
	switch {
	case podstate.Container(pod.Pod, s.first).Image == s.empty:
		return s.first, s.second
	case podstate.Container(pod.Pod, s.second).Image == s.empty:
		return s.second, s.first
	case pod.emptied(s, pod.idle(s)): // with the empty image of an earlier spec
	case serves(s.first) && !serves(s.second):
		return s.second, s.first
	case serves(s.second) && !serves(s.first):
		return s.first, s.second
	}
	return pod.idle(s), pod.worker(s)
}

// upgrade gives the containers of a pod their new images. (SCS-11, SCS-16)
func (c *change) upgrade() error {
	works := map[string]string{} // from now on
	for i := range c.p.sidecars {
		s := &c.p.sidecars[i]
		if s.hot {
			if err := c.upgradeHot(s, works); err != nil {
				return err
			}
			continue
		}
		if c.p.stands(c.pod, s) {
			continue
		}
		if err := c.replace(s.name, s.image); err != nil {
			return err
		}
	}
	if len(works) == 0 {
		return nil
	}
	working, err := c.pod.working()
	if err != nil {
		return err
	}
	maps.Copy(working, works)
	return c.annotate(v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, working)
}
