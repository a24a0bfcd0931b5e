// SPDX-License-Identifier: Apache-2.0

// Package distribution holds what the controllers of podwright that spread
// things over a cluster share with it: the CustomResourceDefinitions of their kinds.
//
// The kinds themselves are in v1alpha1, their typed clients in client, and
// every controller has a package of its own.
package distribution
