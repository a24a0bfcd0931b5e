// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// remove deletes an object, or begins to.
func (s *Server) remove(r *storage, req *Request) (any, error) {
	var options metav1.DeleteOptions
	if len(req.Body) > 0 {
		if err := decode(req.Body, &options); err != nil {
			return nil, badRequest(err)
		}
	}
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	if _, err := req.admitted(current, nil); err != nil {
		return nil, err
	}
	return s.removeWith(r, req, &options)
}

// removeWith is remove with options that are known.
func (s *Server) removeWith(r *storage, req *Request, options *metav1.DeleteOptions) (any, error) {
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != current.GetUID() {
			return nil, conflict(r, req, "the UID is %s, not %s", current.GetUID(), *p.UID)
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != current.GetResourceVersion() {
			return nil, conflict(r, req, "the resourceVersion is %s, not %s", current.GetResourceVersion(), *p.ResourceVersion)
		}
	}
	if req.DryRun {
		return r.deleted(current), nil
	}
	return r.deleted(s.begin(r, current, gracePeriod(r, current, options), holder(options))), nil
}

// evict evicts a pod, as there is no PodDisruptionBudget: it is deleted.
func (s *Server) evict(r *storage, req *Request) (any, error) {
	var eviction policyv1.Eviction
	if err := decode(req.Body, &eviction); err != nil {
		return nil, badRequest(err)
	}
	if err := req.admittedEviction(); err != nil {
		return nil, err
	}
	options := eviction.DeleteOptions
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	if _, err := s.removeWith(r, req, options); err != nil {
		return nil, err
	}
	return success(), nil
}

// begin marks an object as being deleted, and removes it when nothing holds it.
// The finalizer is added that says what the garbage collector does first; empty
// stands for nothing.
func (s *Server) begin(r *storage, current *unstructured.Unstructured, grace int64, finalizer string) *unstructured.Unstructured {
	finalizers := current.GetFinalizers()
	if finalizer != "" && current.GetDeletionTimestamp() == nil {
		finalizers = append(slices.Clone(finalizers), finalizer)
	}
	if grace == 0 && len(finalizers) == 0 {
		return s.commit(r, current, nil)
	}
	if old := current.GetDeletionGracePeriodSeconds(); old != nil && *old <= grace {
		return current
	}
	after := current.DeepCopy()
	at := metav1.NewTime(s.clock.Now().Add(time.Duration(grace) * time.Second))
	after.SetDeletionTimestamp(&at)
	after.SetDeletionGracePeriodSeconds(&grace)
	after.SetFinalizers(finalizers)
	if r.Generation {
		after.SetGeneration(after.GetGeneration() + 1)
	}
	return s.commit(r, current, after)
}

// gracePeriod is how long an object has to end, in seconds: 0 for everything
// but a pod that a kubelet may still be running.
func gracePeriod(r *storage, object *unstructured.Unstructured, options *metav1.DeleteOptions) int64 {
	if r.Kind != "Pod" || r.Group != corev1.GroupName {
		return 0
	}
	node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	if node == "" || phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
		return 0
	}
	if options.GracePeriodSeconds != nil {
		return max(*options.GracePeriodSeconds, 0)
	}
	grace, _, _ := unstructured.NestedInt64(object.Object, "spec", "terminationGracePeriodSeconds")
	return max(grace, 0)
}

// deleted is the answer to a deletion.
func (r *storage) deleted(object *unstructured.Unstructured) any {
	if r.returnDeleted || finishing(object) {
		return object
	}
	status := success()
	status.Details = &metav1.StatusDetails{Name: object.GetName(), Group: r.Group, Kind: r.Name, UID: object.GetUID()}
	return status
}

// finishing tells whether an object waits for its finalizers.
func finishing(object *unstructured.Unstructured) bool { return len(object.GetFinalizers()) > 0 }

// holder is the finalizer that a deletion adds for its propagation policy.
func holder(options *metav1.DeleteOptions) string {
	if options.PropagationPolicy == nil {
		return ""
	}
	switch *options.PropagationPolicy {
	case metav1.DeletePropagationForeground:
		return metav1.FinalizerDeleteDependents
	case metav1.DeletePropagationOrphan:
		return metav1.FinalizerOrphanDependents
	}
	return ""
}
