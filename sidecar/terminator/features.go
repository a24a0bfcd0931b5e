// SPDX-License-Identifier: Apache-2.0

package terminator

// Features are what a Controller can do otherwise.
type Features struct {
	// LeavePhase leaves the phase of pods to their kubelets, as OpenKruise 1.4 does. Then
	// sidecars have to exit with 0 when they are stopped, unless one has the variable
	// v1alpha1.TerminateSidecarIgnoreExitCodeEnv. Default false: see the comment of the package.
	LeavePhase bool
}
