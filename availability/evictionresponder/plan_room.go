// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// lacksRoom says what the pod waits for before it is evicted. It is nil if there is room, if
// none is to come, or after long enough a wait. (EVR-5, EVR-6)
func (p *planner) lacksRoom() *rollout.Reason {
	if !p.surges() || !lifecycle.Available(p.Pod, p.Set.Spec.MinReadySeconds, p.Now) {
		return nil
	}
	replicas := ptr.Deref(p.Set.Spec.Replicas, 1)
	available, soon := p.others()
	if available >= replicas {
		return nil
	}
	deadline := p.deadline()
	if !p.Now.Before(deadline) {
		return nil
	}
	p.again(deadline)
	if soon > 0 {
		p.again(p.Now.Add(soon))
	}
	return &rollout.Reason{Rule: ruleRoom, Limit: replicas, Observed: available, Message: fmt.Sprintf(
		"CloneSet %s has %d of %d pods available beside this one; the pod goes once it has created another, or at %s",
		p.Set.Name, available, replicas, deadline.UTC().Format(time.RFC3339))}
}

// surges tells whether the workload can create a pod before this one goes.
func (p *planner) surges() bool {
	if p.Set == nil || p.Set.DeletionTimestamp != nil {
		return false
	}
	surge, err := rollout.MaxSurge(p.Set.Spec.UpdateStrategy.MaxSurge, ptr.Deref(p.Set.Spec.Replicas, 1))
	return err == nil && surge > 0
}

// deadline is when to wait for room no longer.
func (p *planner) deadline() time.Time {
	_, report := own(p.Eviction)
	start := p.Now
	if at := p.Eviction.Status.Responders[report].StartTime; at != nil {
		start = at.Time
	}
	return start.Add(cmp.Or(p.RoomTimeout, DefaultRoomTimeout))
}

// others counts the available pods of the workload that stay when this one goes. If one of them
// becomes available by the passing of time, it says in which.
func (p *planner) others() (available int32, soon time.Duration) {
	for _, pod := range p.Pods {
		if pod.UID == p.Pod.UID || !p.stays(pod) {
			continue
		}
		wait, ok := lifecycle.AvailableIn(pod, p.Set.Spec.MinReadySeconds, p.Now)
		switch {
		case ok && wait <= 0:
			available++
		case ok && (soon == 0 || wait < soon):
			soon = wait
		}
	}
	return available, soon
}

// stays tells whether a pod stays when this one goes. Of several that are to go, those with the
// lesser names go first, so that they do not all go into the room of one.
func (p *planner) stays(pod *corev1.Pod) bool {
	_, specified := pod.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
	return pod.DeletionTimestamp == nil && !specified && (lifecycle.AwaitsEviction(pod, p.Now) == 0 || p.Pod.Name < pod.Name)
}
