// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// FieldManager says which of its writers owns a field of an object. Neither method changes what it is given.
type FieldManager interface {
	// Apply merges a configuration that a manager applies into the live object. It returns the conflicts with other managers as an API error,
	// unless force is set.
	Apply(live, applied *unstructured.Unstructured, builtIn bool, subresource, manager string, force bool) (*unstructured.Unstructured, error)
	// Update notes that a manager has made after of before, by another write than Apply.
	Update(before, after *unstructured.Unstructured, builtIn bool, subresource, manager string) (*unstructured.Unstructured, error)
}

// ManageFields lets clients apply objects (server-side apply). Without it, such a request is refused.
func (s *Server) ManageFields(m FieldManager) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.fields = m
}

// applyConfiguration carries out server-side apply, which creates an object that does not exist.
func (s *Server) applyConfiguration(r *storage, req *Request) (any, error) {
	applied := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(req.Body, &applied.Object); err != nil {
		return nil, badRequest(err)
	}
	manager := req.query.Get("fieldManager")
	switch {
	case s.fields == nil:
		return nil, badRequest(errors.New("fakecluster takes no server-side apply"))
	case manager == "":
		return nil, badRequest(errors.New("fieldManager is required for apply patch"))
	case applied.GetName() != req.Name || cmp.Or(applied.GetNamespace(), req.Namespace) != req.Namespace:
		return nil, badRequest(fmt.Errorf("the object is %s/%s, the path says %s/%s", applied.GetNamespace(), applied.GetName(), req.Namespace, req.Name))
	case len(applied.GetManagedFields()) > 0:
		return nil, badRequest(errors.New("metadata.managedFields must be nil"))
	}
	r.keepEndpoint(req.Subresource, applied)
	live, err := r.get(req)
	exists := err == nil
	switch {
	case !exists && (req.Subresource != "" || applied.GetUID() != ""):
		return nil, err
	case !exists:
		live = &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": req.Name, "namespace": req.Namespace}}}
		live.SetGroupVersionKind(r.GroupVersionKind)
	}
	merged, err := s.fields.Apply(live, applied, r.Type != nil, req.Subresource, manager, req.query.Get("force") == "true")
	if err != nil {
		return nil, err
	}
	if merged, err = r.known(merged); err != nil {
		return nil, badRequest(err)
	}
	if !exists {
		if err := s.refuseInEnding(req); err != nil {
			return nil, err
		}
		return s.createObject(r, req, merged)
	}
	merged.SetResourceVersion(cmp.Or(applied.GetResourceVersion(), live.GetResourceVersion()))
	return s.update(r, req, live, merged)
}

// keepEndpoint leaves of a configuration what the endpoint can change, so that its manager owns nothing else.
func (r *storage) keepEndpoint(subresource string, applied *unstructured.Unstructured) {
	switch {
	case subresource == "status":
		maps.DeleteFunc(applied.Object, func(key string, _ any) bool {
			return !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key)
		})
	case r.Status:
		delete(applied.Object, "status")
	}
}

// managed notes who has made a write, if the object is one whose fields have owners. The lock is held.
func (s *Server) managed(r *storage, req *Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if s.fields == nil || len(before.GetManagedFields()) == 0 || req.contentType == applyPatch {
		return after, nil
	}
	name, _, _ := strings.Cut(req.User, "/")
	subresource := req.Subresource
	if subresource == resize || subresource == ephemeral || subresource == scale {
		subresource = ""
	}
	after.SetManagedFields(nil)
	return s.fields.Update(before, after, r.Type != nil, subresource, cmp.Or(req.query.Get("fieldManager"), name))
}
