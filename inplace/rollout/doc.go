// SPDX-License-Identifier: Apache-2.0

// Package rollout answers two questions about the pods of a workload: which of
// them are created, updated and deleted now, and why not the others?
//
// It is arithmetic on numbers and pods. Nothing here reads a clock, talks to an
// API server or changes a pod, so every answer can be had in a unit test.
//
// The pieces, in the order in which a controller needs them:
//
//   - [Partition], [MaxSurge], [MaxUnavailable] and [ScaleMaxUnavailable] turn
//     the numbers and percentages of a strategy into numbers of pods.
//   - [SortForDeletion] and [SortForUpdate] say in which order pods go.
//   - [Wait] and [Reason] say why a pod waits.
//   - [Stages] lists what a plan does about pods: at first, and otherwise, if
//     the API server refuses that.
//
// All orders are total: the same list of pods gives the same answer.
//
// How many pods a workload creates, deletes and updates, and which of them go now,
// is the planner's of its kind: see workloads/cloneset and workloads/statefulset.
// The orders stand rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/cloneset/RULES.md
//
// # Differences
//
// OpenKruise 1.4 leaves pods that compare as equal in the order of its cache,
// which is random. Here the name decides between them.
//
// A negative maxUnavailable or maxSurge, which the validation of OpenKruise
// lets through in some combinations, counts as 0. A partition of "NaN%" or
// "Inf%" is an error.
package rollout
