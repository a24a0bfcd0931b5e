// SPDX-License-Identifier: Apache-2.0

// Package gitops holds what the controllers write to what Argo CD makes of it: its own health checks judge the status. It holds only
// tests, and is a module of its own, since nobody who copies from the examples needs Argo CD.
package gitops
