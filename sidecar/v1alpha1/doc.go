// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kind SidecarSet of apps.kruise.io/v1alpha1, and the names
// and records that it leaves on pods.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
