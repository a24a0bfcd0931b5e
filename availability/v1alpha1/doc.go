// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kind PodUnavailableBudget of policy.kruise.io/v1alpha1, and the
// labels and annotations by which pods are protected.
//
// +kubebuilder:object:generate=true
// +groupName=policy.kruise.io
package v1alpha1
