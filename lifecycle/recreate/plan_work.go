// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planWork does the manager's part while the node agent recreates containers:
// it tells it of their readiness, and takes the pod out of service. (CRR-M6,
// CRR-M7)
func (p *planner) planWork() {
	p.wait(ruleAgentWorks, p.since(), "the node agent recreates the containers, "+p.onNode())
	change := p.syncStatuses()
	strategy := p.Request.Spec.Strategy
	acquired := p.Request.Annotations[v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation] != ""
	if strategy == nil || strategy.UnreadyGracePeriodSeconds == nil || acquired {
		p.change(change, "tell the node agent which containers are running")
		return
	}
	p.planUnready(change, *strategy.UnreadyGracePeriodSeconds)
}

// planUnready takes the pod out of service. The finalizer comes first, so that the
// request cannot vanish without putting the pod back. Then come the pod's condition, and
// last the time from which the node agent counts. What change holds is written along.
// (CRR-4.2)
func (p *planner) planUnready(change Change, seconds int64) {
	why := fmt.Sprintf("pod %s has no readiness gate %s: it stays in service, and the containers are stopped after %d seconds all the same",
		p.Pod.Name, v1alpha1.KruisePodReady, seconds)
	if readiness.HasGate(p.Pod, v1alpha1.KruisePodReady) {
		why = fmt.Sprintf("the pod is out of service, the containers are stopped after %d seconds", seconds)
		change.AddFinalizer = !hasFinalizer(p.Request)
		var patch podpatch.Patch
		if readiness.Add(&patch, p.Pod, p.key(), p.Now) {
			p.change(change, "see to it that the pod comes back into service, whatever happens")
			p.plan.Steps = append(p.plan.Steps, Step{Why: "take the pod out of service", Pod: &patch})
			change = Change{}
		}
	}
	change.annotate(v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation, roundedUp(p.Now))
	p.change(change, why)
}

// roundedUp is a time in RFC 3339, rounded up to whole seconds: what counts from
// it takes no less than was asked for.
func roundedUp(now time.Time) string {
	return now.Add(time.Second - 1).Truncate(time.Second).UTC().Format(time.RFC3339)
}

// syncStatuses tells which of the containers have taken the place of those for
// which the request was created, if that is news. That there is none goes without saying as
// long as nothing has been said. (CRR-4.1)
func (p *planner) syncStatuses() (change Change) {
	const annotation = v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation
	text, told := encodeStatuses(p.replaced()), p.Request.Annotations[annotation]
	if text != told && (told != "" || text != encodeStatuses(nil)) {
		change.annotate(annotation, text)
	}
	return change
}

// replaced lists the containers that are running and are not those for which the
// request was created, in the order of the spec. Their IDs tell: the times at
// which they were started are those of the node's clock, and in whole seconds.
func (s *Snapshot) replaced() (list []v1alpha1.ContainerRecreateRequestSyncContainerStatus) {
	for i := range s.Request.Spec.Containers {
		of := &s.Request.Spec.Containers[i]
		status := podstate.ContainerStatus(s.Pod, of.Name)
		if status == nil || status.State.Running == nil || !isReplaced(of, status) {
			continue
		}
		list = append(list, v1alpha1.ContainerRecreateRequestSyncContainerStatus{
			Name: status.Name, Ready: status.Ready, RestartCount: status.RestartCount, ContainerID: status.ContainerID,
		})
	}
	return list
}

// isReplaced tells whether a container is not the one for which the request was created.
func isReplaced(of *v1alpha1.ContainerRecreateRequestContainer, status *corev1.ContainerStatus) bool {
	return of.StatusContext == nil || of.StatusContext.ContainerID != status.ContainerID
}

func encodeStatuses(list []v1alpha1.ContainerRecreateRequestSyncContainerStatus) string {
	if list == nil {
		return "[]"
	}
	data, _ := json.Marshal(list) // strings, numbers and booleans always encode
	return string(data)
}
