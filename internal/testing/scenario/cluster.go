// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TB is what a Cluster needs of a test.
type TB = testing.TB

// Cluster is a cluster with the pods, claims and revisions of one workload. Its
// objects are never changed once they are in it: a change puts a copy in place.
type Cluster struct {
	// T fails when a plan asks for what cannot be.
	T TB
	// Owner is the workload, as its dependents refer to it.
	Owner metav1.OwnerReference
	// Pods are all pods that exist, by age.
	Pods []*corev1.Pod
	// Claims are all claims that exist, by age.
	Claims []*corev1.PersistentVolumeClaim
	// Revisions are all revisions that exist, by age.
	Revisions []*appsv1.ControllerRevision
	// Words are what scripts say of objects.
	Words *patches.Words
	// Now is the time. Nothing but the test sets it.
	Now time.Time

	// GeneratedNames says that the names of pods mean nothing. Pods are shown
	// as p1, p2, … in the order in which they were created. Otherwise they are
	// shown by their names.
	GeneratedNames bool
	// Graceful says that what is deleted stays, terminating, for as long as it
	// would in a cluster. That is, a pod until its kubelet has stopped it, a claim until
	// no pod uses it. Otherwise it is gone at once.
	Graceful bool
	// Refused names what the API server refuses: "create", "delete".
	Refused map[string]bool
	// Quota is how many pods there may be; 0 is no limit.
	Quota int

	changed     bool // pods, by the stage that is applied
	version     int
	uids        int
	created     int
	alias       map[string]string // of pods with generated names
	broken      map[types.UID]bool
	frozen      map[types.UID]bool
	ownerGone   bool
	ownerEnding bool // it is gone after its dependents
}

// New returns a cluster without any objects.
func New(t TB, owner metav1.OwnerReference, words *patches.Words) *Cluster {
	return &Cluster{
		T: t, Owner: owner, Words: words, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		alias: map[string]string{}, broken: map[types.UID]bool{}, frozen: map[types.UID]bool{},
	}
}

// Fork returns a cluster that is as this one is now, and whose future is its own. Objects
// are shared: nothing changes them in place.
func (w *Cluster) Fork() *Cluster {
	fork := *w
	fork.Pods, fork.Claims, fork.Revisions = slices.Clone(w.Pods), slices.Clone(w.Claims), slices.Clone(w.Revisions)
	fork.Refused, fork.alias, fork.broken, fork.frozen = maps.Clone(w.Refused), maps.Clone(w.alias), maps.Clone(w.broken), maps.Clone(w.frozen)
	return &fork
}

// Bump returns a resourceVersion that was never used before.
func (w *Cluster) Bump() string { w.version++; return fmt.Sprint(w.version) }

// uid returns a UID that was never used before: an object that is created anew
// is another one.
func (w *Cluster) uid(name string) types.UID {
	w.uids++
	return types.UID(fmt.Sprintf("uid-%s-%d", name, w.uids))
}

// Pod returns the pod of a name, nil if there is none.
func (w *Cluster) Pod(name string) *corev1.Pod { return named(w.Pods, name) }

// claim returns the claim of a name, nil if there is none.
func (w *Cluster) claim(name string) *corev1.PersistentVolumeClaim { return named(w.Claims, name) }

// object is what a Cluster holds.
type object[T any] interface {
	metav1.Object
	DeepCopy() T
}

// named is the object of a name, nil if there is none.
func named[T object[T]](objects []T, name string) (found T) {
	for _, o := range objects {
		if o.GetName() == name {
			return o
		}
	}
	return found
}

// edit puts a changed copy in the place of the object of a name, and tells whether there is one.
func edit[T object[T]](objects []T, name string, do func(T)) bool {
	for i, o := range objects {
		if o.GetName() == name {
			objects[i] = o.DeepCopy()
			do(objects[i])
			return true
		}
	}
	return false
}

// without returns the objects but that of a name.
func without[T object[T]](objects []T, name string) []T {
	return slices.DeleteFunc(objects, func(o T) bool { return o.GetName() == name })
}

// Edit changes a pod as another user would. A pod that does not exist is left
// alone.
func (w *Cluster) Edit(name string, do func(*corev1.Pod)) {
	edit(w.Pods, name, func(pod *corev1.Pod) {
		do(pod)
		pod.ResourceVersion = w.Bump()
	})
}

// remove deletes a pod as any user may, again too. A pod that has finalizers
// stays, terminating, and so does every pod of a graceful cluster.
func (w *Cluster) remove(name string) {
	if !w.Graceful {
		w.Pods = slices.DeleteFunc(w.Pods, func(p *corev1.Pod) bool { return p.Name == name && len(p.Finalizers) == 0 })
	}
	w.Edit(name, func(p *corev1.Pod) {
		if p.DeletionTimestamp == nil || !w.Graceful {
			now := metav1.NewTime(w.Now)
			p.DeletionTimestamp = &now
		}
	})
}

// Gone lets a pod vanish whatever holds it, as a forced deletion does.
func (w *Cluster) Gone(name string) {
	w.Pods = without(w.Pods, name)
}

// claimName returns the name of a claim by how it is shown.
func (w *Cluster) claimName(shown string) string {
	for _, claim := range w.Claims {
		if w.Unalias(claim.Name) == shown {
			return claim.Name
		}
	}
	return shown
}

// removeClaim deletes a claim as any user may. In a graceful cluster a claim that
// a pod uses stays, terminating, until Collect finds it unused.
func (w *Cluster) removeClaim(name string) {
	if w.Graceful && w.inUse(name) {
		edit(w.Claims, name, func(c *corev1.PersistentVolumeClaim) {
			if c.DeletionTimestamp == nil {
				now := metav1.NewTime(w.Now)
				c.DeletionTimestamp = &now
			}
		})
		return
	}
	w.Claims = without(w.Claims, name)
}

func (w *Cluster) inUse(claim string) bool {
	return slices.ContainsFunc(w.Pods, func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
		})
	})
}

// active tells whether a pod has neither ended nor is being deleted.
func active(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && !ended(pod) }

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}
