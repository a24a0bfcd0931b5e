// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the workload kinds of apps.kruise.io/v1alpha1.
//
// # Validation
//
// The CustomResourceDefinitions made from these types carry, as CEL rules, all checks that need nothing but the object and its
// former state. So the API server refuses a wrong manifest even if no webhook runs. The webhook judges what such rules cannot
// say. It finds out whether the pod template is valid and carries the labels of the selector, and whether the pods named in
// podsToDelete exist. It also judges whether a schedule can be read and a template of jobs is unchanged. It judges what a
// UnitedDeployment says of its subsets in percentages and by name. The API server limits the cost of a rule. So the webhook also
// judges whether a list repeats an entry and whether a nested label selector is well formed.
//
// All rules stand at the root of the schema, which is otherwise exactly the one
// that existing clusters know. They need an API server of Kubernetes 1.25 or
// newer.
//
// +kubebuilder:object:generate=true
// +groupName=apps.kruise.io
package v1alpha1
