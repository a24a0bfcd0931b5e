// SPDX-License-Identifier: Apache-2.0

// Package scenario is a cluster in memory for tests of planners. What plans decide
// is applied exactly as they say, and the node's part is played by a kubelet
// that acts when it is told to. It knows no API server, no caches and no
// failing requests (see package fakecluster for those). Pods, claims, revisions and
// a clock are all there is. So a rollout of ten pods takes a millisecond and can
// be written as a script or tried at random ten thousand times.
//
// A [Cluster] holds what a workload of any kind has. A test package adds its own
// kind: the object, its snapshot, and how its plans are shown and applied.
// With that, as a [Player], [RunScripts] plays the scripts in its testdata.
//
// It is for tests only: no package but a test imports it.
package scenario
