// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// CollectGarbage does a round of what the controller manager does about
// deletions. It deletes the objects whose owners are all gone, and those of
// owners that are deleted in the foreground. It drops such owners from objects that
// another one keeps. It orphans those of owners that are deleted so. And it lets claims go
// that are protected and that no pod on a node mounts. It goes on until nothing is
// left to do, and returns how much it did.
func (s *Server) CollectGarbage() (collected int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		found := 0
		for r, object := range s.all {
			if current := r.objects[keyOf(object)]; current == object && s.collect(r, object) {
				found++
			}
		}
		if collected += found; found == 0 {
			return collected
		}
	}
}

// Erase deletes without grace each object, of whatever kind, that has a name, or one that begins with it and a dash.
func (s *Server) Erase(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for r, object := range s.all {
		if strings.HasPrefix(object.GetName()+"-", name+"-") {
			s.begin(r, object, 0, "")
		}
	}
}

// all yields each object, as it was when those of its resource began: by resource, namespace and name. The lock is held.
func (s *Server) all(yield func(*storage, *unstructured.Unstructured) bool) {
	for _, path := range slices.Sorted(maps.Keys(s.resources)) {
		for _, object := range s.resources[path].sorted() {
			if !yield(s.resources[path], object) {
				return
			}
		}
	}
}

func keyOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// collect does what there is to do about one object, and tells whether there was anything.
func (s *Server) collect(r *storage, object *unstructured.Unstructured) bool {
	has := func(finalizer string) bool {
		return object.GetDeletionTimestamp() != nil && slices.Contains(object.GetFinalizers(), finalizer)
	}
	switch {
	case object.GetDeletionTimestamp() == nil:
		owners := object.GetOwnerReferences()
		left := slices.DeleteFunc(object.GetOwnerReferences(), s.lost)
		switch len(left) {
		case len(owners):
			return false
		case 0:
			s.begin(r, object, gracePeriod(r, object, &metav1.DeleteOptions{}), "")
		default:
			s.disown(r, object, left)
		}
		return true
	case has(metav1.FinalizerOrphanDependents):
		s.orphan(object.GetUID())
		s.unhold(r, object, metav1.FinalizerOrphanDependents)
		return true
	case has(metav1.FinalizerDeleteDependents) && !s.blocked(object.GetUID()):
		s.unhold(r, object, metav1.FinalizerDeleteDependents)
		return true
	case has(protection) && !s.mounted(object):
		s.unhold(r, object, protection)
		return true
	}
	return false
}

// lost tells whether an owner is gone, or waits for what it owns to go first.
func (s *Server) lost(owner metav1.OwnerReference) bool {
	found := s.find(owner.UID)
	return found == nil || slices.Contains(found.GetFinalizers(), metav1.FinalizerDeleteDependents)
}

// disown leaves an object only some of its owners.
func (s *Server) disown(r *storage, object *unstructured.Unstructured, left []metav1.OwnerReference) {
	after := object.DeepCopy()
	after.SetOwnerReferences(left)
	s.commit(r, object, after)
}

func (s *Server) find(uid types.UID) *unstructured.Unstructured {
	for _, r := range s.resources {
		for _, object := range r.objects {
			if object.GetUID() == uid {
				return object
			}
		}
	}
	return nil
}

// blocked tells whether an object is left that its owner waits for.
func (s *Server) blocked(owner types.UID) bool {
	for _, r := range s.resources {
		for _, object := range r.objects {
			for _, reference := range object.GetOwnerReferences() {
				if reference.UID == owner && reference.BlockOwnerDeletion != nil && *reference.BlockOwnerDeletion {
					return true
				}
			}
		}
	}
	return false
}

// orphan drops an owner from all objects.
func (s *Server) orphan(owner types.UID) {
	for r, object := range s.all {
		left := slices.DeleteFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner })
		if len(left) < len(object.GetOwnerReferences()) {
			s.disown(r, object, left)
		}
	}
}

// unhold drops a finalizer from an object that is being deleted.
func (s *Server) unhold(r *storage, object *unstructured.Unstructured, finalizer string) {
	s.hold(r, object, slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
}

// hold gives an object finalizers in place of its own. One that is being deleted is gone if it waits for nothing else.
func (s *Server) hold(r *storage, object *unstructured.Unstructured, finalizers []string) {
	after := object.DeepCopy()
	if after.SetFinalizers(finalizers); finished(after) {
		after = nil
	}
	s.commit(r, object, after)
}

// protection holds claims that are deleted while a pod mounts them.
const protection = "kubernetes.io/pvc-protection"

// ProtectClaims protects claims that are created from now on. One that is deleted while a pod
// on a node mounts it stays, until CollectGarbage finds that none does.
func (s *Server) ProtectClaims() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.resources["v1/persistentvolumeclaims"].protected = true
}

// mounted tells whether a pod on a node mounts a claim.
func (s *Server) mounted(claim *unstructured.Unstructured) bool {
	for _, object := range s.resources["v1/pods"].objects {
		pod, err := s.pod(object)
		if err != nil || pod.Spec.NodeName == "" || pod.Namespace != claim.GetNamespace() {
			continue
		}
		if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.GetName()
		}) {
			return true
		}
	}
	return false
}
