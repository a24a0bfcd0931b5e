// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/podstate"
)

// How long, in bytes, a message gets, as those of agents do. (IMG-3.8)
const (
	mostPart    = 400
	mostMessage = 800
)

// pull is the work on a task for one of its jobs: the attempts so far.
type pull struct {
	job *v1alpha1.ImagePullJob
	// attempt is the number of the last one, 0 before the first; last tells whether no
	// other may follow.
	attempt int32
	last    bool
	began   time.Time
	state   pullState
	// pod is that of the attempt, nil if there is none (any more).
	pod *corev1.Pod
	// problem is why it has failed, empty if it has not.
	problem string
	// unscheduled is why its pod has no node, empty if it has one.
	unscheduled string
	// held is what it waits for, nil for nothing.
	held *heldup.Told
}

type pullState int

const (
	pullUnstarted pullState = iota
	pullRunning
	pullSucceeded
	pullFailed
)

// ended tells whether no further attempt is made.
func (one *pull) ended() bool {
	return one.state == pullSucceeded || one.state == pullFailed && one.last
}

// pullOf finds out how far the pull of a task for a job is, by its pods and by what the
// API server has refused. (IMG-4.2)
func (p *planner) pullOf(t *pullTask, job *v1alpha1.ImagePullJob) *pull {
	one := &pull{job: job}
	for _, pod := range p.pods {
		of, attempted := p.isAttempt(pod, t, job)
		if attempted && of.Attempt > one.attempt {
			*one = pull{job: job, attempt: of.Attempt, began: pod.CreationTimestamp.Time, pod: pod}
		}
	}
	if one.pod != nil {
		one.state, one.problem = stateOfPod(one.pod, p.NodeImage.Name)
		if timeout := attemptTimeout(t.ImageTagSpec); one.state == pullRunning && !one.began.Add(timeout).After(p.Now) {
			one.state, one.problem = pullFailed, strings.TrimPrefix(fmt.Sprintf("%s: it takes longer than %v", one.problem, timeout), ": ")
		}
		if one.state == pullRunning || one.state == pullSucceeded {
			one.problem, one.unscheduled = "", one.problem
		}
	}
	for i := range p.Refusals {
		if r := &p.Refusals[i]; r.Job == job.UID && r.Task.Attempt > one.attempt && r.Task == p.taskOf(t, r.Task.Attempt) {
			*one = pull{job: job, attempt: r.Task.Attempt, began: r.At, state: pullFailed, problem: r.Message}
		}
	}
	one.last = one.attempt >= attempts(t.ImageTagSpec)
	return one
}

func (p *planner) taskOf(t *pullTask, attempt int32) images.PullTask {
	return images.PullTask{Node: p.NodeImage.Name, Image: t.image, Tag: t.Tag, Version: t.Version, Attempt: attempt}
}

// isAttempt tells whether a pod is an attempt at a task for a job: not only by what it
// says, but by what it does.
func (p *planner) isAttempt(pod *corev1.Pod, t *pullTask, job *v1alpha1.ImagePullJob) (images.PullTask, bool) {
	of, ok := images.PullTaskOf(pod)
	if !ok || of != p.taskOf(t, of.Attempt) || pod.Namespace != job.Namespace || !metav1.IsControlledBy(pod, job) || pod.Name != pullPodName(job, of) {
		return of, false
	}
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == pullVolume && v.Image != nil {
			return of, v.Image.Reference == images.TaskReference(t.image, t.Tag)
		}
	}
	return of, false
}

// stateOfPod tells whether the kubelet of the node has the image for a pod, or says
// that it cannot have it. The container is created when the image is there, and not
// before. The text says why it has failed, or what it waits for.
func stateOfPod(pod *corev1.Pod, node string) (state pullState, why string) {
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Name != pullContainer || pod.Spec.NodeName != node {
			continue
		}
		if status.ContainerID != "" && (status.State.Running != nil || status.State.Terminated != nil) {
			return pullSucceeded, ""
		}
		if w := status.State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return pullFailed, readable(waitingText(w))
		}
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return pullFailed, "pod " + pod.Name + " was deleted"
	case podstate.Ended(pod):
		return pullFailed, readable(fmt.Sprintf("pod %s has ended: %s %s", pod.Name, pod.Status.Reason, pod.Status.Message))
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return pullRunning, readable(fmt.Sprintf("pod %s is not scheduled: %s", pod.Name, c.Message))
		}
	}
	return pullRunning, ""
}

// waitingText is why a container waits. While the kubelet waits to try again, it says so
// before the reason. Such a text would change at each of its tries.
func waitingText(w *corev1.ContainerStateWaiting) string {
	if w.Reason == "ImagePullBackOff" {
		if _, cause, found := strings.Cut(w.Message, `": `); found && strings.HasPrefix(w.Message, "Back-off pulling image ") {
			return cause
		}
	}
	return w.Reason + ": " + w.Message
}

// readable makes the words of others fit for a status. (IMG-3.8)
func readable(text string) string {
	return images.Cut(images.Redacted(strings.TrimSpace(text)), mostPart)
}

// The bounds of what a task may ask for, as agents have them. (IMG-3.7)
const (
	maxAttemptTimeout = time.Hour
	maxRetries        = 20
)

// attempts is how many attempts are made at a task for a job.
func attempts(task *v1alpha1.ImageTagSpec) int32 {
	retries := ptr.Deref(ptr.Deref(task.PullPolicy, v1alpha1.ImageTagPullPolicy{}).BackoffLimit, v1alpha1.DefaultImagePullBackoffLimit)
	if retries < 0 {
		retries = v1alpha1.DefaultImagePullBackoffLimit
	}
	return min(retries, maxRetries) + 1
}

// attemptTimeout is how long one attempt may take.
func attemptTimeout(task *v1alpha1.ImageTagSpec) time.Duration {
	seconds := ptr.Deref(ptr.Deref(task.PullPolicy, v1alpha1.ImageTagPullPolicy{}).TimeoutSeconds, 0)
	if seconds <= 0 {
		seconds = v1alpha1.DefaultImagePullTimeoutSeconds
	}
	return min(time.Duration(seconds)*time.Second, maxAttemptTimeout)
}

// attemptPause is the shortest time from the begin of an attempt to that of the next one.
// It is 10 s, 20 s, 40 s, up to 60 s. Meanwhile the kubelet itself goes on to try.
func attemptPause(attempt int32) time.Duration {
	if attempt > 3 {
		return time.Minute
	}
	return 10 * time.Second << max(attempt-1, 0)
}
