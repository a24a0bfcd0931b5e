// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/images"
)

// planTasks gives the task to as many nodes as may pull at the same time. (IMG-1.4)
func (p *planner) planTasks() {
	if p.overdue() {
		return
	}
	active := int32(0)
	for _, n := range p.nodes {
		if n.state == Active {
			active++
		}
	}
	free, held := p.plan.Parallelism-active, p.held(active)
	for i := range p.nodes {
		n := &p.nodes[i]
		switch {
		case n.state == Active && p.asksOtherwise(n):
			p.plan.Assign = append(p.plan.Assign, p.renew(n))
		case n.state != NotSynced:
		case !p.secretsKnown:
			p.wait(n.Name, &rollout.Reason{Rule: rulePullSecrets, Message: "the pull secrets of the job are being copied to the namespace in which nodes find them"})
		case free <= 0:
			p.wait(n.Name, held)
		case p.full(n.NodeImage):
			p.wait(n.Name, &rollout.Reason{Rule: ruleTooManyImages, Limit: v1alpha1.MaxNodeImageImages, Observed: int32(len(n.Spec.Images)),
				Message: fmt.Sprintf("the node has tasks for %d images, and can have %d", len(n.Spec.Images), v1alpha1.MaxNodeImageImages)})
		default:
			given := p.assign(n.NodeImage)
			if reason := p.crowded(n.NodeImage, &given.Image); reason != nil {
				p.wait(n.Name, reason)
				p.requeueAfter(roomInterval)
				continue
			}
			p.plan.Assign = append(p.plan.Assign, given)
			n.state = Active // in the status; plan.Nodes shows what was observed
			free--
		}
	}
}

// asksOtherwise tells whether the job has been changed since it gave a node the task on which that works. The job has to be
// the last that gave it. (IMG-1.4)
func (p *planner) asksOtherwise(n *node) bool {
	owners := n.task.OwnerReferences
	if owners[len(owners)-1].UID != p.Job.UID {
		return false
	}
	was, is := ptr.Deref(n.task.PullPolicy, v1alpha1.ImageTagPullPolicy{}), p.policyFor(n.NodeImage, n.task)
	always := p.imagePullPolicyFor(n.task) == v1alpha1.ImagePullAlways // a task without a policy means the other one
	return always != (n.task.ImagePullPolicy == v1alpha1.ImagePullAlways) || ptr.Deref(was.TimeoutSeconds, v1alpha1.DefaultImagePullTimeoutSeconds) != *is.TimeoutSeconds ||
		ptr.Deref(was.BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit) != *is.BackoffLimit ||
		!ptr.Equal(was.ActiveDeadlineSeconds, is.ActiveDeadlineSeconds) // the TTL is spread otherwise by other managers
}

// renew gives a task that is under way the present policy of the job. It goes on as the same version.
func (p *planner) renew(n *node) Assignment {
	image := n.Spec.Images[p.plan.Image]
	image.Tags = slices.Clone(image.Tags)
	for i := range image.Tags {
		if image.Tags[i].Tag == p.plan.Tag {
			image.Tags[i].PullPolicy = p.policyFor(n.NodeImage, &image.Tags[i])
			image.Tags[i].ImagePullPolicy = p.imagePullPolicyFor(&image.Tags[i])
		}
	}
	return Assignment{NodeImage: n.NodeImage, Name: p.plan.Image, Image: image, Renew: true}
}

// policyFor is the policy of a task of which the job is an owner, or becomes one: that of the job. Of a task of other namespaces,
// too, each number is the larger one: no tenant takes time away from another. (IMG-1.4)
func (p *planner) policyFor(n *v1alpha1.NodeImage, task *v1alpha1.ImageTagSpec) *v1alpha1.ImageTagPullPolicy {
	policy := p.pullPolicy(n)
	if was := task.PullPolicy; was != nil && p.sharedWithOthers(task) {
		policy.TimeoutSeconds = ptr.To(max(*policy.TimeoutSeconds, ptr.Deref(was.TimeoutSeconds, v1alpha1.DefaultImagePullTimeoutSeconds)))
		policy.BackoffLimit = ptr.To(max(*policy.BackoffLimit, ptr.Deref(was.BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit)))
		policy.TTLSecondsAfterFinished = ptr.To(max(*policy.TTLSecondsAfterFinished, ptr.Deref(was.TTLSecondsAfterFinished, 0)))
		if policy.ActiveDeadlineSeconds != nil && was.ActiveDeadlineSeconds != nil {
			policy.ActiveDeadlineSeconds = ptr.To(max(*policy.ActiveDeadlineSeconds, *was.ActiveDeadlineSeconds))
		} else {
			policy.ActiveDeadlineSeconds = nil
		}
	}
	return policy
}

// imagePullPolicyFor is whether the registry is asked in any case. The job says so, or another namespace that shares the
// task has. It is always written: agents of OpenKruise 1.8 and 1.9 pull an image that is there if nothing is said.
// (IMG-1.14)
func (p *planner) imagePullPolicyFor(task *v1alpha1.ImageTagSpec) v1alpha1.ImagePullPolicy {
	if p.Job.Spec.ImagePullPolicy == v1alpha1.ImagePullAlways || task.ImagePullPolicy == v1alpha1.ImagePullAlways && p.sharedWithOthers(task) {
		return v1alpha1.ImagePullAlways
	}
	return v1alpha1.ImagePullIfNotPresent
}

// sharedWithOthers tells whether jobs of other namespaces want a task, too.
func (p *planner) sharedWithOthers(task *v1alpha1.ImageTagSpec) bool {
	return slices.ContainsFunc(task.OwnerReferences, func(o corev1.ObjectReference) bool { return o.Namespace != p.Job.Namespace })
}

// held is why the nodes wait that get no task.
func (p *planner) held(active int32) *rollout.Reason {
	if p.plan.Parallelism == 0 {
		return &rollout.Reason{Rule: rollout.RulePaused, Message: fmt.Sprintf("spec.parallelism is %s: the job is paused", p.Job.Spec.Parallelism)}
	}
	return &rollout.Reason{Rule: ruleParallelism, Limit: p.plan.Parallelism, Observed: active,
		Message: fmt.Sprintf("parallelism %d: as many nodes pull already", p.plan.Parallelism)}
}

// full tells whether a node cannot take the image, which is new to it.
func (p *planner) full(n *v1alpha1.NodeImage) bool {
	_, known := n.Spec.Images[p.plan.Image]
	return !known && len(n.Spec.Images) >= v1alpha1.MaxNodeImageImages
}

// assign gives the task to a node.
func (p *planner) assign(n *v1alpha1.NodeImage) Assignment {
	image := n.Spec.Images[p.plan.Image]
	image.SandboxConfig = p.Job.Spec.SandboxConfig // the last writer wins, also with none
	image.PullSecrets = p.withSecrets(image.PullSecrets)
	image.Tags = slices.Clone(image.Tags)
	i := slices.IndexFunc(image.Tags, func(t v1alpha1.ImageTagSpec) bool { return t.Tag == p.plan.Tag })
	if i < 0 {
		image.Tags = append(image.Tags, v1alpha1.ImageTagSpec{Tag: p.plan.Tag})
		i = len(image.Tags) - 1
		if status := images.StatusOf(n, p.plan.Image, p.plan.Tag); status != nil {
			image.Tags[i].Version = status.Version // the node may have handled it
		}
	}
	task := &image.Tags[i]
	task.PullPolicy = p.policyFor(n, task)
	task.ImagePullPolicy = p.imagePullPolicyFor(task)
	task.Version++
	task.CreatedAt = ptr.To(p.now())
	task.OwnerReferences = append(slices.Clone(task.OwnerReferences), images.TaskOwner(p.Job))
	slices.SortFunc(image.Tags, func(a, b v1alpha1.ImageTagSpec) int { return strings.Compare(a.Tag, b.Tag) })
	return Assignment{NodeImage: n, Name: p.plan.Image, Image: image}
}

// How long a finished task stays on a node, in seconds. The spread keeps the
// nodes from being cleaned all at once.
const (
	ttlReserve = 300 // if Options.TTLReserve says nothing
	ttlSpread  = 300

	neverDeadline  = 1800
	neverTTL       = 86400
	neverTTLSpread = 1200 // half of it shorter, half of it longer
)

// pullPolicy is that of a new task. (IMG-1.4)
func (p *planner) pullPolicy(n *v1alpha1.NodeImage) *v1alpha1.ImageTagPullPolicy {
	job := ptr.Deref(p.Job.Spec.PullPolicy, v1alpha1.PullPolicy{})
	timeout := ptr.Deref(job.TimeoutSeconds, v1alpha1.DefaultImagePullTimeoutSeconds)
	backoff := ptr.Deref(job.BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit)
	policy := &v1alpha1.ImageTagPullPolicy{TimeoutSeconds: &timeout, BackoffLimit: &backoff}
	spread := func(below int32) int64 {
		return int64(images.Spread(below, string(p.Job.UID), n.Name))
	}
	if !p.always() {
		policy.ActiveDeadlineSeconds = ptr.To(max(neverDeadline, int64(timeout)))
		policy.TTLSecondsAfterFinished = ptr.To(int32(neverTTL - neverTTLSpread/2 + spread(neverTTLSpread)))
		return policy
	}
	completion := &p.Job.Spec.CompletionPolicy
	policy.ActiveDeadlineSeconds = completion.ActiveDeadlineSeconds
	base := int64(timeout) * int64(backoff)
	switch {
	case completion.TTLSecondsAfterFinished != nil:
		base = int64(*completion.TTLSecondsAfterFinished)
	case completion.ActiveDeadlineSeconds != nil:
		base = *completion.ActiveDeadlineSeconds
	}
	base = min(max(base, 0), math.MaxInt32) // before adding: it may be any number
	reserve := cmp.Or(int64(p.TTLReserve/time.Second), ttlReserve)
	policy.TTLSecondsAfterFinished = ptr.To(int32(min(base+reserve+spread(ttlSpread), math.MaxInt32)))
	return policy
}
