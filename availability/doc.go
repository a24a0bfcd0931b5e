// SPDX-License-Identifier: Apache-2.0

// Package availability holds the CustomResourceDefinitions and the webhook configurations of
// what keeps pods and their workloads available.
//
// The kinds themselves are in v1alpha1, their typed client in client. Package podunavailablebudget keeps
// PodUnavailableBudgets. Package budget computes how many pods of a PodUnavailableBudget may be disrupted. Package
// deletion protects objects from being deleted at all. Package evictionresponder has workloads make room for pods
// that are evicted declaratively.
package availability
