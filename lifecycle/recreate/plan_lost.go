// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// How long a node agent may be silent while a pod is out of service for it, beside the
// times that the request allows it. The longest grace period that counts. An agent waits
// no longer for a container either. (CRR-M9)
const (
	silenceSeconds  = 10 * 60
	maxGraceSeconds = 24 * 60 * 60
)

// Turn describes the step that a node agent has to take for a pod that is out of
// service; another text stands for another step. It is empty if the pod is in
// service, or if a container has to be running and ready first.
func (s *Snapshot) Turn() string {
	r := s.Request
	acquired := r.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation]
	if s.over() || acquired == "" || r.Status.Phase != v1alpha1.ContainerRecreateRequestRecreating || !hasFinalizer(r) || !s.meant() {
		return ""
	}
	final := map[string]bool{}
	for _, state := range r.Status.ContainerRecreateStates {
		final[state.Name] = state.Phase == v1alpha1.ContainerRecreateRequestSucceeded || state.Phase == v1alpha1.ContainerRecreateRequestFailed
	}
	for i := range r.Spec.Containers {
		of := &r.Spec.Containers[i]
		if status := podstate.ContainerStatus(s.Pod, of.Name); !final[of.Name] &&
			(status == nil || status.State.Running == nil || isReplaced(of, status) && !status.Ready) {
			return ""
		}
	}
	said := r.Status
	if heldup.OfText(said.Message) != nil {
		said.Message = "" // the manager says that, not the agent (CRR-7)
	}
	status, _ := json.Marshal(&said) // always encodes
	return acquired + string(status) + encodeStatuses(s.replaced())
}

// lost tells whether the node agent has been silent for too long. (CRR-M9)
func (p *planner) lost() bool {
	return !p.Silent.IsZero() && p.due(p.Silent, p.allowed())
}

// allowed are the seconds that a node agent may be silent. (CRR-M9)
func (p *planner) allowed() int64 {
	allowed := int64(silenceSeconds)
	add := func(seconds int64) { allowed += min(max(seconds, 0), mostSeconds-allowed) }
	grace := int64(v1alpha1.DefaultContainerRecreateGracePeriodSeconds)
	if strategy := p.Request.Spec.Strategy; strategy != nil {
		if strategy.TerminationGracePeriodSeconds != nil {
			grace = *strategy.TerminationGracePeriodSeconds
		}
		if strategy.UnreadyGracePeriodSeconds != nil {
			add(*strategy.UnreadyGracePeriodSeconds)
		}
		add(int64(strategy.MinStartedSeconds))
	}
	add(min(grace, maxGraceSeconds))
	return allowed
}
