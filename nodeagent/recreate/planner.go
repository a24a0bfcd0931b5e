// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	Plan
	request  *v1alpha1.ContainerRecreateRequest
	strategy v1alpha1.ContainerRecreateRequestStrategy
	status   *v1alpha1.ContainerRecreateRequestStatus // as it shall be
	why      string                                   // the last reason for a change of it, in words
	newest   map[string]*criv1.Container
	synced   map[string]v1alpha1.ContainerRecreateRequestSyncContainerStatus
}

// work plans the next step of the chosen request. (CRR-5.3)
func (p *planner) work(r *v1alpha1.ContainerRecreateRequest) {
	p.request, p.status, p.why = r, r.Status.DeepCopy(), "the containers are further than was written down"
	if r.Spec.Strategy != nil {
		p.strategy = *r.Spec.Strategy
	}
	if p.status.Phase != v1alpha1.ContainerRecreateRequestRecreating {
		p.status.Phase, p.status.Message = v1alpha1.ContainerRecreateRequestRecreating, "" // it waits no more
		p.why = "it is the turn of the request"
	}
	p.recreate()
	if !equality.Semantic.DeepEqual(&r.Status, p.status) {
		p.status.ObservedGeneration = r.Generation
		p.Write = &Write{Request: r, Status: p.status, Why: p.why}
	}
}

func (p *planner) recreate() {
	if p.RuntimeErr == nil {
		if message := p.refusal(); message != "" {
			p.complete(message)
			return
		}
	}
	if !p.unready() {
		return
	}
	if err := p.checkRuntime(); err != nil {
		p.complete(fmt.Sprintf("%s: %v", v1alpha1.ContainerRecreateMessageNoRuntime, err))
		return
	}
	if p.RuntimeErr != nil {
		p.wait(p.request, "", ruleRuntime, p.RuntimeErr.Error())
		return
	}
	p.newest = nodeagent.Newest(p.Containers)
	p.readSynced()
	p.observeStates()
	p.walk()
}

// unready tells whether the pod has been out of service for as long as the
// request wants it to be. (CRR-5.3.2)
func (p *planner) unready() bool {
	grace := p.strategy.UnreadyGracePeriodSeconds
	if grace == nil {
		return true
	}
	text := p.request.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation]
	if text == "" {
		p.wait(p.request, "", ruleOutOfService, "a controller has to take the pod out of service first")
		return false
	}
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.complete(fmt.Sprintf("%s %s: %v", v1alpha1.ContainerRecreateMessageUnreadyTime, text, err))
		return false
	}
	if seen, ok := p.Seen[p.request.UID]; ok {
		since = seen.Unready // the other one is by the clock of the controller
	}
	rest := since.Add(seconds(*grace)).Sub(p.Now)
	if rest > 0 {
		w := p.wait(p.request, "", ruleGracePeriod, fmt.Sprintf("unreadyGracePeriodSeconds of %d are over in %s", *grace, rest))
		w.Since, w.Reason.Limit = since, int32(min(*grace, math.MaxInt32))
		p.lookAgain(rest)
	}
	return rest <= 0
}

// checkRuntime checks that all containers belong to the runtime of the node.
// (CRR-5.3.3)
func (p *planner) checkRuntime() error {
	for i := range p.request.Spec.Containers {
		c := &p.request.Spec.Containers[i]
		if c.StatusContext == nil {
			return fmt.Errorf("container %s has no statusContext: the webhook of ContainerRecreateRequests fills it in", c.Name)
		}
		runtime, _, ok := nodeagent.SplitContainerID(c.StatusContext.ContainerID)
		if !ok {
			return fmt.Errorf("container %s has the containerID %q: want RUNTIME://ID", c.Name, c.StatusContext.ContainerID)
		}
		if runtime != p.Runtime {
			return fmt.Errorf("container %s belongs to the runtime %q, the node runs %q", c.Name, runtime, p.Runtime)
		}
	}
	return nil
}

// complete ends the request.
func (p *planner) complete(message string) {
	now := metav1.NewTime(p.Now.Truncate(time.Second))
	p.status.Phase, p.status.CompletionTime, p.status.Message = v1alpha1.ContainerRecreateRequestCompleted, &now, message
	p.why = "the request is completed"
	if message != "" {
		p.why += ": " + message
	}
}

// seconds is a duration that a time can be added to.
func seconds(n int64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	return time.Duration(min(max(n, 0), int64(most/time.Second))) * time.Second
}
