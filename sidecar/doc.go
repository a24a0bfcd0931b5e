// SPDX-License-Identifier: Apache-2.0

// Package sidecar holds the CustomResourceDefinitions and the webhook configurations of the
// sidecar kinds.
//
// The kinds themselves are in v1alpha1. What they inject into pods is computed in
// injection; sidecarset updates it and says what is wrong with one. With what policies
// manages an API server injects it with no webhook. Package terminator ends
// the sidecars of pods that run to completion.
package sidecar
