// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Node and NodeImage have the same name. One of them may be nil.
	Node      *corev1.Node
	NodeImage *v1alpha1.NodeImage
	// Jobs holds, by UID, the ImagePullJobs that own tasks of the node. One
	// that is missing is gone.
	Jobs map[types.UID]*v1alpha1.ImagePullJob
	// PullPods is that of Options. Nil: agents pull.
	PullPods *PullPods
	// Pods are those that have images pulled to the node.
	Pods []*corev1.Pod
	// Refusals are those of the pods of the node that the API server has refused.
	Refusals []Refusal
	// Now is the time for which to plan.
	Now time.Time
	// Timing says how long to wait for what.
	Timing Timing
}

// Refusal is a pod that the API server has refused to create: an attempt that has failed.
type Refusal struct {
	// Task is what the pod was for, and Job the UID of its job.
	Task images.PullTask
	Job  types.UID
	// At is when it was refused.
	At time.Time
	// Message says why.
	Message string
}

// Timing says how long a controller waits. Its zero value is fit for use.
type Timing struct {
	// CreationDelay is how long a node must have been ready before it gets its
	// NodeImage. Default 30 s; less than 0: no time.
	CreationDelay time.Duration
	// ResponseTimeout is how long a task may be without any report of the
	// node's agent; then it has failed. Default 1 min. On a node that is not
	// ready, or is not there, it is one minute at most.
	//
	// podwright's agent reports the beginning of a pull. The agents of OpenKruise 1.4 report
	// nothing before the end with most runtimes. While a cluster has some, this must be as long as
	// their pulls may take.
	ResponseTimeout time.Duration
}

// The defaults of Timing.
const (
	defaultCreationDelay   = 30 * time.Second
	defaultResponseTimeout = time.Minute
)

func (t Timing) creationDelay() time.Duration {
	if t.CreationDelay == 0 {
		return defaultCreationDelay
	}
	return max(t.CreationDelay, 0)
}

func (t Timing) responseTimeout() time.Duration {
	if t.ResponseTimeout == 0 {
		return defaultResponseTimeout
	}
	return t.ResponseTimeout
}

// now is the time as it stands in objects, in whole seconds.
func (s *Snapshot) now() metav1.Time { return metav1.NewTime(s.Now.Truncate(time.Second)) }

// key names the node.
func (s *Snapshot) key() types.NamespacedName {
	switch {
	case s.NodeImage != nil:
		return types.NamespacedName{Name: s.NodeImage.Name}
	case s.Node != nil:
		return types.NamespacedName{Name: s.Node.Name}
	}
	task, _ := images.PullTaskOf(s.Pods[0])
	return types.NamespacedName{Name: task.Node}
}
