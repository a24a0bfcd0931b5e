// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"time"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// planEnd cleans up after a request that is completed or being deleted. (CRR-M1)
func (p *planner) planEnd() {
	var change Change
	if hasFinalizer(p.Request) {
		p.planRelease()
		change.RemoveFinalizer = true
	}
	switch {
	case p.Request.DeletionTimestamp != nil:
		p.change(change, "nothing more to do before the request is gone")
		return
	case p.expired(&change) && !change.RemoveFinalizer:
		p.plan.Steps = append(p.plan.Steps, Step{Why: "ttlSecondsAfterFinished are over", Delete: true})
		return
	}
	_, change.Deactivate = p.Request.Labels[v1alpha1.ContainerRecreateRequestActiveLabel]
	p.change(change, "the request is completed: node agents need not watch it any more")
	if heldup.OfText(p.Request.Status.Message) != nil { // by an agent that leaves messages alone (CRR-7)
		status := p.Request.Status.DeepCopy()
		status.Message = ""
		p.plan.Steps = append(p.plan.Steps, Step{Why: "nothing holds it up any more", Status: status})
	}
	if p.plan.RequeueAfter > 0 {
		ttl := *p.Request.Spec.TTLSecondsAfterFinished
		p.wait(ruleTTL, p.Request.Status.CompletionTime.Time, fmt.Sprintf("the request is deleted %d seconds after its completion", ttl)).Limit = ttl
	}
}

// planRelease puts the pod back into service, unless it is going anyway. The key
// is no other request's, so it goes from whichever pod has it.
func (p *planner) planRelease() {
	if p.Pod == nil || p.leaving() {
		return
	}
	var patch podpatch.Patch
	if readiness.Remove(&patch, p.Pod, p.key(), p.Now) {
		p.plan.Steps = append(p.plan.Steps, Step{Why: "the pod need not be out of service any more", Pod: &patch})
	}
}

// expired tells whether a completed request has been kept long enough, since a
// controller saw that it was completed; if none did, since it was. A request
// that is not to be kept is gone with its label.
func (p *planner) expired(change *Change) bool {
	const annotation = v1alpha1.ContainerRecreateRequestCompletionSeenAnnotation
	ttl := p.Request.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return false
	}
	since := p.Request.Status.CompletionTime.Time
	_, active := p.Request.Labels[v1alpha1.ContainerRecreateRequestActiveLabel]
	if seen, err := time.Parse(time.RFC3339, p.Request.Annotations[annotation]); err == nil {
		since = seen
	} else if !p.Seen.IsZero() && active && *ttl > 0 {
		since = p.Now
		change.annotate(annotation, roundedUp(p.Now))
	}
	return p.due(since, int64(*ttl))
}
