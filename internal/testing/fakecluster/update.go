// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"maps"
	"reflect"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// put replaces an object, or its status.
func (s *Server) put(r *storage, req *Request) (any, error) {
	object, err := r.parse(req)
	if err != nil {
		return nil, err
	}
	current, err := r.get(req)
	if err != nil {
		return nil, err
	}
	if uid := object.GetUID(); uid != "" && uid != current.GetUID() {
		return nil, conflict(r, req, "the UID is %s, not %s", current.GetUID(), uid)
	}
	if object.GetResourceVersion() == "" && r.Type != nil {
		object.SetResourceVersion(current.GetResourceVersion())
	}
	return s.update(r, req, current, object)
}

// update makes of the current object what a PUT or PATCH asks for.
func (s *Server) update(r *storage, req *Request, current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if v := wanted.GetResourceVersion(); v != "" && v != current.GetResourceVersion() {
		return nil, conflict(r, req, "the object has been modified, it is at resourceVersion %s and not %s", current.GetResourceVersion(), v)
	}
	after, err := req.admitted(current, r.within(req.Subresource, current, wanted))
	if err != nil {
		return nil, err
	}
	if s.mutate != nil {
		after = after.DeepCopy()
		s.mutate(*req, after)
	}
	keepMetadata(current, after)
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(after, current, field.NewPath("metadata"))
	validate := r.validate
	switch req.Subresource {
	case ephemeral:
		validate = validateEphemeralContainers
	case resize:
		validate = validateResize
	}
	if validate != nil {
		errs = append(errs, validate(current, after)...)
	}
	if err := invalid(r, req.Name, errs); err != nil {
		return nil, err
	}
	if r.Generation && changesSpec(current, after) {
		after.SetGeneration(current.GetGeneration() + 1)
	}
	if reflect.DeepEqual(current.Object, after.Object) {
		return current, nil
	}
	if after, err = s.managed(r, req, current, after); err != nil {
		return nil, err
	}
	if req.DryRun {
		return after, nil
	}
	if finished(after) {
		return s.commit(r, current, nil), nil
	}
	return s.commit(r, current, after), nil
}

// within returns the current object with what the endpoint may change of it. The wanted
// one is the request's own, but for what it shares with the current one, which never changes.
// The status endpoint of built-in kinds takes labels and annotations too, those of
// ephemeral containers and of resizes nothing else.
func (r *storage) within(subresource string, current, wanted *unstructured.Unstructured) *unstructured.Unstructured {
	if subresource == "" || subresource == scale {
		if r.Status {
			setOrDelete(wanted.Object, "status", current.Object["status"])
		}
		return wanted
	}
	after := current.DeepCopy()
	if subresource == resize {
		takeResources(after, wanted)
		after.SetUID(wanted.GetUID()) // another one is refused
		return after
	}
	if subresource == ephemeral {
		spec, _ := after.Object["spec"].(map[string]any)
		added, _, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", ephemeralContainers)
		setOrDelete(spec, ephemeralContainers, added)
		after.SetUID(wanted.GetUID()) // another one is refused
		return after
	}
	setOrDelete(after.Object, "status", wanted.Object["status"])
	if owners := wanted.GetManagedFields(); owners != nil {
		after.SetManagedFields(owners)
	}
	if r.Type != nil {
		after.SetLabels(wanted.GetLabels())
		after.SetAnnotations(wanted.GetAnnotations())
		after.SetUID(wanted.GetUID()) // another one is refused
	}
	return after
}

func setOrDelete(object map[string]any, key string, value any) {
	if value == nil {
		delete(object, key)
		return
	}
	object[key] = value
}

// keepMetadata puts back what clients cannot change.
func keepMetadata(current, after *unstructured.Unstructured) {
	if after.GetUID() == "" {
		after.SetUID(current.GetUID())
	}
	after.SetCreationTimestamp(current.GetCreationTimestamp())
	after.SetDeletionTimestamp(current.GetDeletionTimestamp())
	after.SetDeletionGracePeriodSeconds(current.GetDeletionGracePeriodSeconds())
	after.SetGeneration(current.GetGeneration())
}

// changesSpec tells whether anything but metadata and status changes.
func changesSpec(before, after *unstructured.Unstructured) bool {
	rest := func(object *unstructured.Unstructured) map[string]any {
		out := maps.Clone(object.Object)
		delete(out, "metadata")
		delete(out, "status")
		return out
	}
	return !reflect.DeepEqual(rest(before), rest(after))
}

// finished tells whether an object that is being deleted can go.
func finished(object *unstructured.Unstructured) bool {
	grace := object.GetDeletionGracePeriodSeconds()
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}
