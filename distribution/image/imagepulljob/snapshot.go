// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Job is the ImagePullJob. Nil: it is gone, and copies that it needed are left.
	Job *v1alpha1.ImagePullJob
	// NodeImages holds those that the job may be about, by name; others beside
	// them do no harm.
	NodeImages map[string]*v1alpha1.NodeImage
	// Pods are those of the job's namespace that its podSelector selects, in
	// any order. Others beside them do no harm.
	Pods []*corev1.Pod
	// CloneSet or StatefulSet is the workload that controls the job. Its pods
	// are taken in the order in which it updates them. Both are nil if the
	// job has no such controller, or it is not known; then pods are taken by name.
	CloneSet    *workloadsv1alpha1.CloneSet
	StatefulSet *workloadsv1beta1.StatefulSet
	// Copies are those copies of pull secrets that say that the job needs them.
	Copies []*corev1.Secret
	// Looks are the last looks at the pull secrets of the job, by name. One that is
	// missing has not been looked at yet.
	Looks map[string]Look
	// ReferToSourceSecrets is that of Options.
	ReferToSourceSecrets bool
	// TTLReserve is that of Options.
	TTLReserve time.Duration
	// Reported is when the progress of the job was last written to its status.
	// Zero: it is not known.
	Reported time.Time
	// HeldSince is when what holds the job up began, as far as a controller remembers. (IMG-1.9)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan.
	Now time.Time

	key types.NamespacedName // of the job, for apply
}

// now is the time as it stands in objects, in whole seconds.
func (s *Snapshot) now() metav1.Time { return metav1.NewTime(s.Now.Truncate(time.Second)) }

// always tells whether the job ends at some time.
func (s *Snapshot) always() bool { return s.Job.Spec.CompletionPolicy.Type != v1alpha1.Never }

// Look is a look at a pull secret that a job names.
type Look struct {
	// At is when that was.
	At time.Time
	// Problem says why nodes cannot have the secret, empty if there is a copy
	// for them.
	Problem string
	// Trying says why it is not known yet whether nodes can have it, while At is zero: the last try has failed, and another follows.
	Trying string
}
