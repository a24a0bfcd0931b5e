// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is a workload: all of its fields, as JSON has them, of whatever kind and version. One Go type stands for
// all of them in a scheme, so an object insists on the kind that it was read with.
type Object struct {
	unstructured.Unstructured `json:"-"`
	Schema
}

// Schema says which lists within an Object a strategic merge patch merges, and by which key. It is there to be looked
// at by reflection: nothing is ever stored in it.
type Schema struct {
	ObjectMeta metav1.ObjectMeta `json:"metadata"`
	Spec       struct {
		corev1.PodSpec `json:",inline"` // of a SidecarSet: containers, initContainers, volumes
		Template       struct {
			corev1.PodTemplateSpec `json:",inline"`
			StatefulSet            subset `json:"statefulSetTemplate"`
			AdvancedStatefulSet    subset `json:"advancedStatefulSetTemplate"`
			CloneSet               subset `json:"cloneSetTemplate"`
			Deployment             subset `json:"deploymentTemplate"`
		} `json:"template"`
		UpdateStrategy struct {
			Paused        bool `json:"paused"`
			RollingUpdate struct {
				Paused bool `json:"paused"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
	} `json:"spec"`
}

// subset is what a UnitedDeployment makes its workloads from.
type subset struct {
	Spec struct {
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// GetObjectKind returns the object itself.
func (o *Object) GetObjectKind() schema.ObjectKind { return o }

// SetGroupVersionKind does nothing: decoders clear the kind of what they read, or set that of the Go type.
func (o *Object) SetGroupVersionKind(schema.GroupVersionKind) {}

// DeepCopyObject returns a copy that shares nothing.
func (o *Object) DeepCopyObject() runtime.Object {
	return &Object{Unstructured: *o.Unstructured.DeepCopy()}
}

// Kind returns the kind of the object, nil for one that is not among Kinds.
func (o *Object) Kind() *Entry { return KindOf(o.GroupVersionKind().GroupKind()) }

// List is a list of Objects.
type List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Object `json:"items"`
}

// GetObjectKind returns the list itself.
func (l *List) GetObjectKind() schema.ObjectKind { return l }

// SetGroupVersionKind does nothing, see Object.
func (l *List) SetGroupVersionKind(schema.GroupVersionKind) {}

// DeepCopyObject returns a copy that shares nothing.
func (l *List) DeepCopyObject() runtime.Object {
	c := &List{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Object))
	}
	return c
}

// Register has a scheme decode the kinds as Objects, in the versions that the API server has, besides those of today.
// A nil mapper stands for a command that asks no API server. (KC-1)
func Register(scheme *runtime.Scheme, mapper meta.RESTMapper) {
	for _, k := range Kinds {
		versions := []string{"v1alpha1", "v1beta1"}
		if mapper != nil {
			mappings, err := mapper.RESTMappings(schema.GroupKind{Group: Group, Kind: k.Name})
			if err != nil && !meta.IsNoMatchError(err) {
				mapper = nil // do not wait for the same answer again
			}
			for _, mapping := range mappings {
				versions = append(versions, mapping.GroupVersionKind.Version)
			}
		}
		for _, version := range versions {
			kind := schema.GroupVersionKind{Group: Group, Version: version, Kind: k.Name}
			scheme.AddKnownTypeWithName(kind, &Object{})
			scheme.AddKnownTypeWithName(kind.GroupVersion().WithKind(k.Name+"List"), &List{})
		}
	}
}
