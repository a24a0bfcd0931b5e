// SPDX-License-Identifier: Apache-2.0

// Package sidecar holds the CustomResourceDefinitions of the sidecar kinds.
//
// The kinds themselves are in v1alpha1, and what they inject into pods is computed in
// injection.
package sidecar
