// SPDX-License-Identifier: Apache-2.0

// Package workloads holds what the workload controllers of podwright share: with
// the cluster the CustomResourceDefinitions of their kinds, among one another caches.
//
// The kinds themselves are in v1alpha1, their typed clients in client, and
// every controller has a package of its own. Package fakecluster is a cluster in
// memory, to test one's own operator with.
package workloads
