// SPDX-License-Identifier: Apache-2.0

// Package availability holds the CustomResourceDefinitions of the kinds that keep pods
// available, and the webhooks.
//
// The kinds themselves are in v1alpha1, their typed client in client. Package
// podunavailablebudget keeps PodUnavailableBudgets. Package budget computes how many pods a
// PodUnavailableBudget lets go, and deletion what may be deleted at all.
package availability
