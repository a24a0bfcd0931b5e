// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// EndNamespace has a namespace be deleted: from now on nothing can be created in it, no pod be bound and none evicted. What is
// in it goes when Sweep says so, and the namespace itself stays.
func (s *Server) EndNamespace(name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.ending[name] = true
}

// refuseInEnding is the answer to a creation in a namespace that is being deleted, nil in any other.
func (s *Server) refuseInEnding(r *Request) error {
	if !s.ending[r.Namespace] || r.storage.ClusterScoped {
		return nil
	}
	err := apierrors.NewForbidden(r.storage.groupResource(), r.Name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", r.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", r.Namespace), Field: "metadata.namespace"})
	return err
}

// Sweep deletes all objects of a resource in a namespace, as the controller of namespaces does: pods with their grace. It
// tells how many deletions have begun.
func (s *Server) Sweep(namespace, resource string) (begun int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for r, object := range s.all {
		if r.Name == resource && object.GetNamespace() == namespace && object.GetDeletionTimestamp() == nil {
			s.begin(r, object, gracePeriod(r, object, &metav1.DeleteOptions{}), "")
			begun++
		}
	}
	return begun
}

// Finalize gives an object that there is finalizers in place of its own. One that is being deleted is gone if it waits for
// nothing else.
func (s *Server) Finalize(resource, namespace, name string, finalizers []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.resources {
		object := r.objects[types.NamespacedName{Namespace: namespace, Name: name}]
		if r.Name == resource && object != nil {
			s.hold(r, object, finalizers)
		}
	}
}
