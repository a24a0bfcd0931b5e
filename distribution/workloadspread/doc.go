// SPDX-License-Identifier: Apache-2.0

// Package workloadspread keeps WorkloadSpreads: which subset of nodes each pod of a workload goes
// to, and in which order they are deleted.
//
// A [Controller] computes the status of each WorkloadSpread from the pods of its workload, and writes
// into the pods what deleting them costs. It gives pods that were there before a subset, and deletes
// those that could not be scheduled in the subset to which they were sent. It alone writes. The arithmetic is in
// package spread.
//
// Every reconcile of a WorkloadSpread has three steps. Observe reads it, its workload and the pods
// from caches into a [Snapshot]. [NewPlan], a pure function, decides. Apply sends what the plan says.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/spread/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same objects and annotations, beside those that package spread
// lists:
//
//   - A pod gets its annotations by one patch, and none if it is to be deleted.
//   - A pod is deleted only if it is as it was observed: it may have been scheduled since.
//   - StatefulSets are watched, too.
//   - The event TargetReferenceError is recorded when it begins to hold, not with every reconcile. An
//     event tells of every pod that is deleted to go elsewhere.
//   - Features.TryPatches has admission try patches on the template of the workload, as OpenKruise from 1.5 on does. Here those
//     of Advanced StatefulSets are tried, too.
//   - If several WorkloadSpreads that are stored name the same workload, the first has it, and the others write into no pods. The same goes
//     for a Deployment and its ReplicaSets. (WS-22)
//   - Of pods that are created again in another subset, ten at most are deleted in 5 s, or a tenth of all. (WS-36)
//   - The condition HeldUp of a subset says what has held it up for a minute, by what, and since when. (WS-32)
package workloadspread
