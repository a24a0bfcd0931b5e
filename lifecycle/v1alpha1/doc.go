// Package v1alpha1 holds the wire types of pod lifecycle hooks and of the
// readiness gate that several writers share. See the packages lifecycle and
// lifecycle/readiness for what they mean.
//
// +kubebuilder:object:generate=true
package v1alpha1
