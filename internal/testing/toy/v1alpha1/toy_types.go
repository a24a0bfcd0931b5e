// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 has the API type of the kind Toy, as users of a real kind write and read it.
//
// +kubebuilder:object:generate=true
// +groupName=toys.podwright.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the kinds in this package.
const GroupName = "toys.podwright.io"

// SchemeGroupVersion is the group and version of the kinds in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &Toy{}, &ToyList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status

// Toy counts pods.
type Toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status ToyStatus `json:"status,omitempty"`
}

// ToyStatus is what the controller has found.
type ToyStatus struct {
	// ObservedGeneration is the generation that the status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Pods is the number of pods whose label "toy" names it.
	Pods int32 `json:"pods,omitempty"`
}

// +kubebuilder:object:root=true

// ToyList is a list of toys.
type ToyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Toy `json:"items"`
}
