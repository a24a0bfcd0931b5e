// SPDX-License-Identifier: Apache-2.0

// Package realnodes tests the nodes of package cluster that run real containers. It tests what a kubelet makes of good
// and bad images, and that containers outlive the restart of kubelet and containerd. In the end nothing may be left
// behind.
//
// The tests run if cluster.RealNodesMissing finds nothing missing; otherwise they say what is.
package realnodes
