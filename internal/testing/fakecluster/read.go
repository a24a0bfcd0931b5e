// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// get returns the stored object that a request names; it must not be changed.
func (r *storage) get(req *Request) (*unstructured.Unstructured, error) {
	object := r.objects[types.NamespacedName{Namespace: req.Namespace, Name: req.Name}]
	if object == nil {
		return nil, notFound(r, req.Name)
	}
	return object, nil
}

// list returns the newest state of all objects, by namespace and name.
func (s *Server) list(r *storage, req *Request) (any, error) {
	selects, err := selection(req)
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, object := range r.sorted() {
		if selects(object) {
			data, err := req.media.shown(object)
			if err != nil {
				return nil, err
			}
			items = append(items, json.RawMessage(data))
		}
	}
	kind := r.GroupVersionKind
	if req.media.metadata {
		kind = metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata")
	}
	return map[string]any{
		"kind": kind.Kind + "List", "apiVersion": kind.GroupVersion().String(),
		"metadata": map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)},
		"items":    items,
	}, nil
}

func (r *storage) sorted() []*unstructured.Unstructured {
	keys := slices.SortedFunc(maps.Keys(r.objects), func(a, b types.NamespacedName) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	objects := make([]*unstructured.Unstructured, len(keys))
	for i, key := range keys {
		objects[i] = r.objects[key]
	}
	return objects
}

// selection returns which objects a list or watch is about. They are in its namespace, and match its label selector and
// its field selector. A field selector can name metadata.name, metadata.namespace and spec.nodeName.
func selection(req *Request) (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(req.query.Get("labelSelector"))
	if err != nil {
		return nil, badRequest(err)
	}
	byField, err := fields.ParseSelector(req.query.Get("fieldSelector"))
	if err != nil {
		return nil, badRequest(err)
	}
	for _, f := range byField.Requirements() {
		if !slices.Contains([]string{"metadata.name", "metadata.namespace", "spec.nodeName"}, f.Field) {
			return nil, badRequest(fmt.Errorf("field selector %s: fakecluster knows metadata.name, metadata.namespace and spec.nodeName", f.Field))
		}
	}
	return func(object *unstructured.Unstructured) bool {
		if object == nil || req.Namespace != metav1.NamespaceAll && object.GetNamespace() != req.Namespace {
			return false
		}
		if byLabel.Empty() && byField.Empty() {
			return true
		}
		node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
		return byLabel.Matches(labels.Set(object.GetLabels())) && byField.Matches(fields.Set{
			"metadata.name": object.GetName(), "metadata.namespace": object.GetNamespace(), "spec.nodeName": node,
		})
	}, nil
}

// Objects lists all objects that exist, as "resource namespace/name".
func (s *Server) Objects() (all []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, r := range s.resources {
		for key := range r.objects {
			all = append(all, r.Name+" "+key.String())
		}
	}
	slices.Sort(all)
	return all
}
