// SPDX-License-Identifier: Apache-2.0

// Package podphase asks the kubelet's own code what it does about a pod that was given its phase, which sidecar/terminator
// relies on. It holds only tests.
package podphase
