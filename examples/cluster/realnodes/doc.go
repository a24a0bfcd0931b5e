// SPDX-License-Identifier: Apache-2.0

// Package realnodes tests the nodes of package cluster that run real containers: what a kubelet makes of good and bad images,
// that containers outlive the restart of kubelet and containerd, and that nothing is left behind in the end.
//
// The tests run if cluster.RealNodesMissing finds nothing missing; otherwise they say what is.
package realnodes
