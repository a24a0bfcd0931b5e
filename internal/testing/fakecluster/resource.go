// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource describes a kind of object to the server.
type Resource struct {
	// Kind and Name of the resource, "Pod" and "pods" for example. The group
	// of the core API is empty.
	schema.GroupVersionKind
	Name string
	// ClusterScoped says that the objects have no namespace.
	ClusterScoped bool
	// Status says that the status is a subresource: no other write changes it.
	Status bool
	// Generation says that metadata.generation counts the changes of the object
	// beside metadata and status.
	Generation bool
	// Scale names the fields that the subresource scale shows. Nil: the resource has none.
	Scale *Scale
	// returnDeleted says that the answer to a deletion is the object, and not
	// a Status.
	returnDeleted bool
	// Type returns an empty object of the Go type of a built-in kind. Unknown
	// fields are dropped and strategic-merge patches are allowed. Nil stands
	// for a custom resource: it keeps every field, takes no strategic-merge
	// patches, and its status endpoint takes nothing but the status.
	Type func() any

	// prepare fills in what the server sets in a new object.
	prepare func(object *unstructured.Unstructured)
	// validate checks a change, beside the metadata.
	validate func(before, after *unstructured.Unstructured) field.ErrorList
}

// CustomResource returns a namespaced custom resource with a status subresource.
func CustomResource(kind schema.GroupVersionKind, name string) Resource {
	return Resource{GroupVersionKind: kind, Name: name, Status: true, Generation: true}
}

// BuiltIn returns a namespaced kind of Kubernetes with a status subresource. object returns an empty
// object of its Go type.
func BuiltIn(kind schema.GroupVersionKind, name string, object func() any) Resource {
	return Resource{GroupVersionKind: kind, Name: name, Status: true, Generation: true, Type: object}
}

func builtIn() []Resource {
	core, apps := corev1.SchemeGroupVersion.WithKind, appsv1.SchemeGroupVersion.WithKind
	return []Resource{
		{GroupVersionKind: core("Pod"), Name: "pods", Status: true, Generation: true, returnDeleted: true,
			Type: func() any { return &corev1.Pod{} }, prepare: preparePod, validate: validatePod},
		{GroupVersionKind: core("PersistentVolumeClaim"), Name: "persistentvolumeclaims", Status: true, returnDeleted: true,
			Type: func() any { return &corev1.PersistentVolumeClaim{} }, prepare: phasePending},
		{GroupVersionKind: core("Node"), Name: "nodes", ClusterScoped: true, Status: true, Type: func() any { return &corev1.Node{} }},
		{GroupVersionKind: core("Event"), Name: "events", Type: func() any { return &corev1.Event{} }},
		{GroupVersionKind: apps("ControllerRevision"), Name: "controllerrevisions",
			Type: func() any { return &appsv1.ControllerRevision{} }, validate: validateRevision},
	}
}

// path is how the URLs of the resource begin, without the namespace.
func (r *Resource) path() string {
	return r.GroupVersion().String() + "/" + r.Name
}

func (r *Resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Name}
}

// known returns the object as the server stores it: without the fields that
// its Go type does not know, and with its kind.
func (r *Resource) known(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if r.Type != nil {
		typed := r.Type()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
			return nil, fmt.Errorf("not a %s: %w", r.Kind, err)
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		if err != nil {
			return nil, err
		}
		object = &unstructured.Unstructured{Object: fields}
	}
	object.SetGroupVersionKind(r.GroupVersionKind)
	return object, nil
}

func phasePending(claim *unstructured.Unstructured) {
	claim.Object["status"] = map[string]any{"phase": string(corev1.ClaimPending)}
}

func validateRevision(before, after *unstructured.Unstructured) field.ErrorList {
	return immutable(before.Object["data"], after.Object["data"], field.NewPath("data"))
}
