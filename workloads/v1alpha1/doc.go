// Package v1alpha1 holds the workload kinds of apps.kruise.io/v1alpha1.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
