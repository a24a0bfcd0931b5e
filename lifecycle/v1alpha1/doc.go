// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the kinds of apps.kruise.io/v1alpha1 that have to do
// with the life of a pod and its containers. It also holds the wire types of pod lifecycle
// hooks and of the readiness gate that several writers share. See the packages
// lifecycle and lifecycle/readiness for what the latter mean.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
