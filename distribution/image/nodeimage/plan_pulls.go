// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/images"
)

// pullTask is a task that is not finished, with one pull for each of its jobs.
type pullTask struct {
	*v1alpha1.ImageTagSpec
	image string
	// reported is what the status says of it, nil for nothing.
	reported *v1alpha1.ImageTagStatus
	pulls    []*pull
}

// planPulls decides about the pods that have images pulled, and says in the status how
// far they are. (IMG-4)
func (p *planner) planPulls(status *v1alpha1.NodeImageStatus) {
	if p.PullPods == nil {
		return
	}
	needed, perNamespace := map[types.UID]bool{}, map[string]int{}
	var due []*pullTask
	for _, t := range p.pullTasks(status) {
		if p.finish(status, t) {
			continue
		}
		due = append(due, t)
		for _, pull := range t.pulls {
			if pull.pod != nil {
				needed[pull.pod.UID] = true
				perNamespace[pull.job.Namespace]++
			}
		}
	}
	for _, t := range due {
		for _, pull := range t.pulls {
			p.attempt(t, pull, needed, perNamespace)
		}
		p.pulling(status, t)
	}
	p.plan.Pulls.Delete = undeleted(slices.DeleteFunc(p.pods, func(pod *corev1.Pod) bool { return needed[pod.UID] }))
}

// pullTasks returns the tasks that are not finished, the oldest first.
func (p *planner) pullTasks(status *v1alpha1.NodeImageStatus) (tasks []*pullTask) {
	for name, image := range p.spec.Images {
		for i := range image.Tags {
			t := &pullTask{ImageTagSpec: &image.Tags[i], image: name, reported: currentState(status, name, &image.Tags[i])}
			if t.reported != nil && t.reported.CompletionTime != nil {
				continue
			}
			for _, owner := range t.OwnerReferences {
				if job := p.Jobs[owner.UID]; job != nil && job.Status.CompletionTime == nil && job.DeletionTimestamp == nil {
					t.pulls = append(t.pulls, p.pullOf(t, job))
				}
			}
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b *pullTask) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.image, b.image), cmp.Compare(a.Tag, b.Tag))
	})
	return tasks
}

// finish ends a task that has come to its end, and tells whether it has. (IMG-4.3)
func (p *planner) finish(status *v1alpha1.NodeImageStatus, t *pullTask) bool {
	_, err := images.ParseReference(images.TaskReference(t.image, t.Tag))
	deadline := p.pullDeadline(t)
	over := !deadline.IsZero() && !deadline.After(p.Now)
	succeeded := slices.ContainsFunc(t.pulls, func(one *pull) bool { return one.state == pullSucceeded })
	going := slices.ContainsFunc(t.pulls, func(one *pull) bool { return !one.ended() })
	switch {
	case over && !succeeded:
		p.failPull(status, t, v1alpha1.ImagePullMessageDeadline)
	case err != nil:
		p.failPull(status, t, err.Error())
	case len(t.pulls) == 0:
		p.failPull(status, t, "no ImagePullJob that goes on owns the task, and kubelets pull for these alone")
	case going && !over:
		if !deadline.IsZero() {
			p.requeueAt(deadline)
		}
		return false
	case succeeded:
		p.succeedPull(status, t)
	default:
		p.failPull(status, t, t.problems())
	}
	return true
}

func (p *planner) failPull(status *v1alpha1.NodeImageStatus, t *pullTask, message string) {
	p.plan.Failed = append(p.plan.Failed, Failed{Image: t.image, Tag: t.Tag, Message: message})
	began := p.began(t)
	p.fail(status, t.image, t.ImageTagSpec, message)
	p.report(status, t.image, t.ImageTagSpec, func(state *v1alpha1.ImageTagStatus) { state.StartTime = &began })
	p.tellJobs(t, message)
}

// tellJobs has every job told that its image could not be pulled with its secrets: of
// the others it learns nothing.
func (p *planner) tellJobs(t *pullTask, otherwise string) {
	for _, one := range t.pulls {
		if one.state != pullSucceeded {
			p.plan.Pulls.Unpulled = append(p.plan.Pulls.Unpulled,
				Unpulled{t.image, t.Tag, images.TaskOwner(one.job), cmp.Or(one.problem, otherwise)})
		}
	}
}

func (p *planner) succeedPull(status *v1alpha1.NodeImageStatus, t *pullTask) {
	began := p.began(t)
	p.plan.Pulls.Succeeded = append(p.plan.Pulls.Succeeded, Succeeded{t.image, t.Tag, p.Now.Sub(began.Time).Truncate(time.Second)})
	p.report(status, t.image, t.ImageTagSpec, func(state *v1alpha1.ImageTagStatus) {
		state.Phase, state.Progress, state.Message = v1alpha1.ImagePhaseSucceeded, 100, ""
		state.StartTime, state.CompletionTime = &began, ptr.To(p.now())
	})
	p.tellJobs(t, v1alpha1.ImagePullMessageDeadline)
}

// pulling reports that a task is being worked on, from the moment at which its first
// pod is created. A node that is not ready leaves it alone. (IMG-2.4, IMG-4.3)
func (p *planner) pulling(status *v1alpha1.NodeImageStatus, t *pullTask) {
	if _, unready := unreadySince(p.Node); unready && t.reported == nil {
		return
	}
	message, began := cmp.Or(t.problems(), p.heldUp(t)), p.began(t)
	p.report(status, t.image, t.ImageTagSpec, func(state *v1alpha1.ImageTagStatus) {
		state.Phase, state.Message, state.StartTime = v1alpha1.ImagePhasePulling, message, &began
	})
}

// attempt starts the next attempt of a pull, if it is due and its namespace has its
// turn. (IMG-4.2)
func (p *planner) attempt(t *pullTask, one *pull, needed map[types.UID]bool, perNamespace map[string]int) {
	if one.state == pullSucceeded || one.ended() {
		return
	}
	if one.state == pullRunning {
		p.requeueAt(one.began.Add(attemptTimeout(t.ImageTagSpec)))
		if one.unscheduled != "" {
			p.hold(t, one, heldup.Unschedulable, one.began, one.unscheduled)
		}
		return
	}
	wait := func(since time.Time, reason rollout.Reason, format string, args ...any) {
		reason.Message = fmt.Sprintf(format, args...)
		p.plan.Pulls.Waiting = append(p.plan.Pulls.Waiting, rollout.Wait{Subject: rollout.Subject{Kind: "image", Name: images.TaskReference(t.image, t.Tag)},
			In: &rollout.Subject{Kind: "ImagePullJob", Name: one.job.Namespace + "/" + one.job.Name}, Reason: &reason, Since: since})
	}
	next := one.began.Add(attemptPause(one.attempt))
	since, unready := unreadySince(p.Node)
	switch {
	case unready:
		wait(since, rollout.Reason{Rule: ruleNodeNotReady}, "the node is not ready")
		p.hold(t, one, ruleNodeAway, since, "node "+p.NodeImage.Name+": it is not ready")
		return
	case one.attempt > 0 && next.After(p.Now):
		p.requeueAt(next)
		wait(one.began, rollout.Reason{Rule: ruleBackOff, Limit: int32(attempts(t.ImageTagSpec)), Observed: int32(one.attempt)},
			"attempt %d of %d is made in %v; the last one failed: %s", one.attempt+1, attempts(t.ImageTagSpec), next.Sub(p.Now), one.problem)
		return
	case one.pod == nil && perNamespace[one.job.Namespace] >= p.PullPods.perNamespace():
		wait(time.Time{}, rollout.Reason{Rule: rulePullSlot, Limit: int32(p.PullPods.perNamespace()), Observed: int32(perNamespace[one.job.Namespace])},
			"%d pods of the namespace pull on the node, which is as many as may be", perNamespace[one.job.Namespace])
		p.hold(t, one, rulePullSlot, time.Time{}, fmt.Sprintf("image %s: %d pods of namespace %s pull on the node, which is as many as may be",
			images.TaskReference(t.image, t.Tag), perNamespace[one.job.Namespace], one.job.Namespace))
		return
	}
	if one.pod != nil {
		delete(needed, one.pod.UID) // it goes first
	} else {
		perNamespace[one.job.Namespace]++
	}
	task := images.PullTask{Node: p.NodeImage.Name, Image: t.image, Tag: t.Tag, Version: t.Version, Attempt: one.attempt + 1}
	timeout := attemptTimeout(t.ImageTagSpec)
	p.plan.Pulls.Create = append(p.plan.Pulls.Create,
		p.PullPods.pod(one.job, task, int64(timeout/time.Second)))
	p.requeueAt(p.Now.Add(timeout))
}

// problems says for which jobs the last attempt has failed, and why.
func (t *pullTask) problems() string {
	var texts []string
	for _, one := range t.pulls {
		if one.problem != "" && one.state != pullSucceeded {
			texts = append(texts, fmt.Sprintf("%s/%s: %s", one.job.Namespace, one.job.Name, one.problem))
		}
	}
	return images.Cut(strings.Join(texts, "; "), mostMessage)
}

// began is when the work on a task began: what has been reported counts.
func (p *planner) began(t *pullTask) metav1.Time {
	if t.reported != nil && t.reported.StartTime != nil {
		return *t.reported.StartTime
	}
	return p.now()
}

// pullDeadline is when a task has to be finished, zero if it has no limit.
func (p *planner) pullDeadline(t *pullTask) time.Time {
	policy := ptr.Deref(t.PullPolicy, v1alpha1.ImageTagPullPolicy{})
	if policy.ActiveDeadlineSeconds == nil || *policy.ActiveDeadlineSeconds > maxDeadline {
		return time.Time{}
	}
	return p.began(t).Add(time.Duration(max(*policy.ActiveDeadlineSeconds, 0)) * time.Second)
}

// ownPods returns the pods that are of jobs, in the order of their names: no other is
// ever deleted.
func ownPods(pods []*corev1.Pod) []*corev1.Pod {
	own := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		_, ok := images.PullTaskOf(pod)
		return !ok || owner == nil || owner.Kind != "ImagePullJob" || !strings.HasPrefix(owner.APIVersion, v1alpha1.GroupName+"/")
	})
	slices.SortFunc(own, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return own
}

// undeleted returns the pods that are not being deleted yet.
func undeleted(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}
