// SPDX-License-Identifier: Apache-2.0

// Package gitops holds what the controllers write to what Argo CD and kstatus (Flux, Helm) make of it: their own code judges the status. It holds only
// tests, and is a module of its own, since nobody who copies from the examples needs them.
package gitops
