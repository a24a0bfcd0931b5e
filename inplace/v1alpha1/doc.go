// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the wire types of in-place updates. They are the pieces of an
// update strategy that several workload kinds share. With them stand the JSON records in
// annotations of a pod that is updated in place.
//
// The keys and the field names are a contract with existing manifests and
// running pods; they never change. See the package inplace for what the
// records mean.
//
// +kubebuilder:object:generate=true
package v1alpha1
