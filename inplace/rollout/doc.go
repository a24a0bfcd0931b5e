// Package rollout answers two questions about the pods of a workload: which of
// them move now, and why not the others?
//
// It is arithmetic on numbers and pods. Nothing here reads a clock, talks to an
// API server or changes a pod, so every answer can be had in a unit test.
//
// The pieces, in the order in which a controller needs them:
//
//   - [Partition], [MaxSurge], [MaxUnavailable] and [ScaleMaxUnavailable] turn
//     the numbers and percentages of a strategy into numbers of pods.
//   - [Tally] counts the pods of a workload; [Tally.Moves] says how many to
//     create, to delete and to update.
//   - [SortForDeletion] and [SortForUpdate] say in which order pods go.
//   - [Tally.SelectForDeletion] and [Tally.SelectForUpdate] say which pods go
//     now; every other one comes back as a [Wait] with its [Reason].
//   - [Stages] lists what a plan does about pods: at first, and otherwise, where
//     the API server refuses that.
//
// All orders are total: the same list of pods gives the same answer.
//
// The arithmetic stands rule by rule, with worked examples, in
// https://github.com/podwright/podwright/blob/main/workloads/cloneset/RULES.md
//
// # Differences
//
// OpenKruise 1.4 leaves pods that compare as equal in the order of its cache,
// which is random. Here the name decides between them.
//
// With the rollback of a raised partition switched on, OpenKruise moves a pod
// also where both revisions have too few pods, or both too many: a pod is
// restarted, and later moved again. Here pods move only from a revision that
// has too many to one that has too few.
//
// Of pods picked for deletion OpenKruise deletes those that are not ready
// freely, and then as many ready ones as if the first had served: more than
// maxUnavailable may be gone. Here the ready ones wait, also for those that are
// not ready for minReadySeconds yet.
//
// A pod that has been prepared for its update, and is out of service for that,
// waits for no budget here: what the budget waits for may wait for the pod.
//
// An update that comes to a pod which must wait goes on with the pods behind it,
// where OpenKruise stops: with a priority strategy, which puts broken pods
// anywhere, one of them would stop it for good. Pods that are missing narrow
// maxUnavailable for available pods alone, and one pod that is unavailable may
// always move: what is missing may wait for it.
//
// A negative maxUnavailable or maxSurge, which the validation of OpenKruise
// lets through in some combinations, counts as 0. A partition of "NaN%" or
// "Inf%" is an error.
package rollout
