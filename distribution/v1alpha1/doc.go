// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of apps.kruise.io/v1alpha1 that spread
// things over a cluster.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
