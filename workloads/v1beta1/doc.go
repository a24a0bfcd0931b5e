// SPDX-License-Identifier: Apache-2.0

// Package v1beta1 holds the workload kinds of apps.kruise.io/v1beta1.
//
// # Validation
//
// The CustomResourceDefinitions made from these types carry, as CEL rules, all
// checks that need nothing but the object and its former state. So the API
// server refuses a wrong manifest even if no webhook runs. The webhook judges what
// such rules cannot say. It finds out whether the pod template is valid,
// carries the labels of the selector and has the readiness gate that an
// in-place update needs. The API server limits the cost of a rule. So the webhook
// also judges whether reserveOrdinals has wrong or repeated entries, and whether a nested label
// selector is well formed.
//
// All rules stand at the root of the schema, which is otherwise exactly the one
// that existing clusters know. They need an API server of Kubernetes 1.25 or
// newer.
//
// # Versions
//
// StatefulSets are stored as v1beta1, and served as v1alpha1 too, which lacks
// some fields. Package conversion converts them without loss.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1beta1
