package apitest

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != current.GetUID() {
			return nil, conflict(r, req, "the UID is %s, not %s", current.GetUID(), *p.UID)
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != current.GetResourceVersion() {
			return nil, conflict(r, req, "the resourceVersion is %s, not %s", current.GetResourceVersion(), *p.ResourceVersion)
		}
	}
	return r.deleted(s.begin(r, current, gracePeriod(r, current, &options))), nil
}

// begin marks an object as being deleted, and removes it when nothing holds it.
func (s *Server) begin(r *storage, current *unstructured.Unstructured, grace int64) *unstructured.Unstructured {
	if grace == 0 && len(current.GetFinalizers()) == 0 {
		return s.commit(r, current, nil)
	}
	if old := current.GetDeletionGracePeriodSeconds(); old != nil && *old <= grace {
		return current
	}
	after := current.DeepCopy()
	at := metav1.NewTime(s.clock.Now().Add(time.Duration(grace) * time.Second))
	after.SetDeletionTimestamp(&at)
	after.SetDeletionGracePeriodSeconds(&grace)
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
	if r.ReturnDeleted || finishing(object) {
		return object
	}
	status := success()
	status.Details = &metav1.StatusDetails{Name: object.GetName(), Group: r.Group, Kind: r.Name, UID: object.GetUID()}
	return status
}

// finishing tells whether an object waits for its finalizers.
func finishing(object *unstructured.Unstructured) bool { return len(object.GetFinalizers()) > 0 }

// CollectGarbage deletes the objects whose owners are all gone, until there
// are none, and returns how many it found.
func (s *Server) CollectGarbage() (collected int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		found := 0
		for _, path := range slices.Sorted(maps.Keys(s.resources)) {
			r := s.resources[path]
			for _, object := range r.sorted() {
				if object.GetDeletionTimestamp() == nil && s.abandoned(object) {
					s.begin(r, object, gracePeriod(r, object, &metav1.DeleteOptions{}))
					found++
				}
			}
		}
		if collected += found; found == 0 {
			return collected
		}
	}
}

func (s *Server) abandoned(object *unstructured.Unstructured) bool {
	owners := object.GetOwnerReferences()
	for _, owner := range owners {
		for _, r := range s.resources {
			for _, candidate := range r.objects {
				if candidate.GetUID() == owner.UID {
					return false
				}
			}
		}
	}
	return len(owners) > 0
}
