// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Job is the BroadcastJob. Required.
	Job *v1alpha1.BroadcastJob
	// Pods are those that the job controls, in any order. Others beside them do no harm.
	Pods []*corev1.Pod
	// Nodes are all nodes of the cluster, in any order. A pod whose node is not among
	// them is deleted, unless it has finished.
	Nodes []*corev1.Node
	// TakenNames are names of pods of other owners. Nil: none are known.
	TakenNames map[string]bool
	// Former names the pods that nodes had last, and that are gone, by the names of the nodes, as far
	// as a controller remembers. No new pod has the name of one that it replaces.
	Former map[string]string
	// BackOff says when pods may be deleted that no scheduler has bound, since something has made
	// them other than the template, which fits their nodes. It is by the names of the nodes. Others may
	// be deleted at once.
	BackOff map[string]time.Time
	// Deleted is when a controller has deleted pods lately that their nodes do not fit, the oldest first, as far as it remembers. NotDeleted
	// are those that it could not delete when it tried last. (BJ-32)
	Deleted    []time.Time
	NotDeleted map[types.UID]bool
	// AssignDirectly assigns new pods to their nodes by spec.nodeName. Default
	// false: the scheduler does, held to the node by the pod's affinity.
	AssignDirectly bool
	// HeldSince is when what holds the job up began, as far as a controller remembers. (BJ-31)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// now is the time as it stands in objects, in whole seconds.
func (s *Snapshot) now() metav1.Time { return metav1.NewTime(s.Now.Truncate(time.Second)) }

// always tells whether the job ends at some time. (BJ-2)
func (s *Snapshot) always() bool { return s.Job.Spec.CompletionPolicy.Type != v1alpha1.Never }

// over tells whether the job has finished for good. (BJ-2)
func (s *Snapshot) over() bool { return over(s.Job) }

func over(job *v1alpha1.BroadcastJob) bool {
	if job.Spec.CompletionPolicy.Type == v1alpha1.Never {
		return false
	}
	for _, c := range job.Status.Conditions {
		if (c.Type == v1alpha1.JobComplete || c.Type == v1alpha1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
