// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/images"
)

// pulling reports that a task is being worked on. The message is why the last
// attempt failed, so that one who waits can see it. (IMG-2.5)
func (p *planner) pulling(t *task) {
	t.status = v1alpha1.ImageTagStatus{
		Tag: t.Tag, Version: t.spec.Version, Phase: v1alpha1.ImagePhasePulling, StartTime: stamp(p.begun(t)),
	}
	switch {
	case t.pull != nil && t.pull.Err != nil:
		t.status.Message = t.pull.Err.Error()
	case t.pull == nil && t.reported != nil && heldup.OfText(t.reported.Message) == nil:
		t.status.Message = t.reported.Message // from before a restart of the agent
	}
}

// succeed reports that the node has the image of a task.
func (p *planner) succeed(t *task, id string, at time.Time) {
	p.complete(t, v1alpha1.ImagePhaseSucceeded, "", at)
	t.status.Progress = 100
	if id != "" {
		t.status.ImageID = t.Image + "@" + id
	}
}

// fail reports that a task has failed for good.
func (p *planner) fail(t *task, message string, at time.Time) {
	p.complete(t, v1alpha1.ImagePhaseFailed, message, at)
}

// failAfter reports that a task has failed with its last attempt.
func (p *planner) failAfter(t *task, err error, at time.Time) {
	p.fail(t, err.Error(), at)
	p.plan.Finished[len(p.plan.Finished)-1].Err = err
}

func (p *planner) complete(t *task, phase v1alpha1.ImagePullPhase, message string, at time.Time) {
	begun := p.begun(t)
	t.status = v1alpha1.ImageTagStatus{
		Tag: t.Tag, Version: t.spec.Version, Phase: phase, Message: message, StartTime: stamp(begun), CompletionTime: stamp(at),
	}
	p.plan.Finished = append(p.plan.Finished, Finished{
		Task: t.Task, Failed: phase == v1alpha1.ImagePhaseFailed, Message: message, Took: at.Sub(begun).Round(time.Second), Owners: t.spec.OwnerReferences,
	})
}

// stamp is a time as the API server keeps it, in whole seconds.
func stamp(at time.Time) *metav1.Time { return ptr.To(metav1.NewTime(at.Truncate(time.Second))) }

// planStatus puts the states of the tasks together. What is said of tasks that
// are gone goes. (IMG-2.5, IMG-2.6)
func (p *planner) planStatus() {
	if p.NodeImage == nil || p.plan.ListImages {
		return
	}
	status := p.NodeImage.Status
	status.ImageStatuses = make(map[string]v1alpha1.ImageStatus, len(p.NodeImage.Spec.Images))
	for _, t := range p.tasks {
		image := status.ImageStatuses[t.Image]
		image.Tags = append(image.Tags, t.status)
		status.ImageStatuses[t.Image] = image
	}
	for _, image := range status.ImageStatuses {
		slices.SortFunc(image.Tags, func(a, b v1alpha1.ImageTagStatus) int { return cmp.Compare(a.Tag, b.Tag) })
	}
	images.CountTasks(&status, &p.NodeImage.Spec)
	if !equality.Semantic.DeepEqual(&status, &p.NodeImage.Status) || apply.IsLate(status.ObservedGeneration, p.NodeImage) {
		status.ObservedGeneration = p.NodeImage.Generation
		p.plan.Status = &status
	}
}
