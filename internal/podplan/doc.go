// SPDX-License-Identifier: Apache-2.0

// Package podplan is what the planners of workloads share, whether their pods go by
// number, by ordinal or by node. A [Planner] is the part of a planner that is the same
// for all kinds. That is revisions and their labels, and the state of pods that is
// written down. It is updates in place and deletions with their hooks, new pods and
// claims, waits and problems. It fills in a rollout.Plan; a kind decides which pods, and
// when. It sends no requests and reads no clock.
//
// Beside it stand checks of what planners are given, and statuses with conditions for what is wrong. The package also has names
// with ordinals, and how long a pod that never runs waits to be replaced.
package podplan
