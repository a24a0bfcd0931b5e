// SPDX-License-Identifier: Apache-2.0

// Package sidecar holds the CustomResourceDefinitions and the webhook configurations of the
// sidecar kinds.
//
// The kinds themselves are in v1alpha1. What they inject into pods is computed in
// injection; sidecarset says what is wrong with one. Package terminator ends the
// sidecars of pods that run to completion.
package sidecar
