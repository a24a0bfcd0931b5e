// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"fmt"
	"strings"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

type state = v1alpha1.ContainerRecreateRequestContainerRecreateState

// observeStates computes how far the containers are, in the order of the spec.
func (p *planner) observeStates() {
	recorded := map[string]state{}
	for _, s := range p.status.ContainerRecreateStates {
		recorded[s.Name] = s
	}
	states := make([]state, len(p.request.Spec.Containers))
	for i := range states {
		of := &p.request.Spec.Containers[i]
		before := recorded[of.Name]
		states[i] = p.stateOf(of, before)
		if before.Phase != states[i].Phase {
			p.why = fmt.Sprintf("container %s is %s", of.Name, states[i].Phase)
		}
	}
	p.status.ContainerRecreateStates = states
}

// stateOf computes how far a container is. The first rule that fits counts.
// (CRR-5.4)
func (p *planner) stateOf(of *v1alpha1.ContainerRecreateRequestContainer, before state) state {
	pending := state{Name: of.Name, Phase: v1alpha1.ContainerRecreateRequestPending, IsKilled: before.IsKilled}
	recreating := state{Name: of.Name, Phase: v1alpha1.ContainerRecreateRequestRecreating, IsKilled: before.IsKilled}
	c := p.newest[of.Name]
	switch {
	case before.Phase == v1alpha1.ContainerRecreateRequestSucceeded || before.Phase == v1alpha1.ContainerRecreateRequestFailed: // CRR-5.4.0
		return before
	case c == nil: // CRR-5.4.1
		pending.Message = v1alpha1.ContainerRecreateStateMessageNotFound
		return pending
	case c.GetState() == criv1.ContainerState_CONTAINER_EXITED: // CRR-5.4.2
		p.wait(p.request, of.Name, ruleKubelet, "the kubelet has to start it again")
		return recreating
	case p.strategy.ForceRecreate && p.announced(of.Name) == p.fullID(c): // and still there
		return pending
	case p.strategy.ForceRecreate && p.announced(of.Name) == "" && !before.IsKilled: // CRR-5.4.3
		return pending
	case p.fullID(c) == of.StatusContext.ContainerID: // CRR-5.4.5
		return pending
	case p.succeeded(c, of.Name): // CRR-5.4.4
		return state{Name: of.Name, Phase: v1alpha1.ContainerRecreateRequestSucceeded, IsKilled: before.IsKilled}
	}
	return recreating
}

// succeeded tells whether a container that has taken the place of another one is
// ready, and has been running for long enough. (CRR-5.4.4)
func (p *planner) succeeded(c *criv1.Container, name string) bool {
	synced := p.synced[name]
	if synced.ContainerID != p.fullID(c) || !synced.Ready {
		p.wait(p.request, name, ruleNotReady, "it is not ready, as far as a controller has told")
		return false
	}
	if p.strategy.MinStartedSeconds <= 0 {
		return true
	}
	least := seconds(int64(p.strategy.MinStartedSeconds))
	since, known := p.Started[c.GetId()]
	if !known {
		since = p.Now
	}
	rest := since.Add(least).Sub(p.Now)
	if rest > 0 {
		w := p.wait(p.request, name, ruleMinStarted, fmt.Sprintf("it will have been running for %s in %s", least, rest))
		w.Since, w.Reason.Limit = since, p.strategy.MinStartedSeconds
		p.lookAgain(min(rest, least))
	}
	return rest <= 0
}

// readSynced reads what a controller tells of the readiness of containers. What
// is not readable counts as nothing: the next change of a container replaces it.
func (p *planner) readSynced() {
	p.synced = map[string]v1alpha1.ContainerRecreateRequestSyncContainerStatus{}
	text := p.request.Annotations[v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation]
	if text == "" {
		return
	}
	var list []v1alpha1.ContainerRecreateRequestSyncContainerStatus
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		p.wait(p.request, "", ruleUnreadable, fmt.Sprintf("annotation %s is not readable: %v", v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation, err))
		return
	}
	for _, s := range list {
		p.synced[s.Name] = s
	}
}

func (p *planner) fullID(c *criv1.Container) string {
	return nodeagent.ContainerID(p.Runtime, c.GetId())
}

// announced returns the ID that the container of a name had when it was going to be
// stopped. It is empty if another one was announced last, or none.
func (p *planner) announced(name string) string {
	of, id, _ := strings.Cut(p.request.Annotations[v1alpha1.ContainerRecreateRequestStoppingAnnotation], "=")
	if of != name {
		return ""
	}
	return id
}
