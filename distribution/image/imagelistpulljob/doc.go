// SPDX-License-Identifier: Apache-2.0

// Package imagelistpulljob manages ImageListPullJobs: it makes an ImagePullJob for each image of a list, and counts how far they are.
// Package imagepulljob does the rest.
//
// Every reconcile of a job has three steps. Observe reads the caches into a [Snapshot]. [NewPlan],
// a pure function, decides. A [Plan] lists the ImagePullJobs to delete, to create and to keep, and the status to write. Apply does
// what the plan says. So every decision can be called in a unit test, shown before it happens, and explained afterwards.
//
// What the controller does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
//
// # Differences
//
// The kind came with OpenKruise 1.5. Jobs are those of OpenKruise 1.9. Behaviour of OpenKruise that harms users is different here:
//
//   - ImagePullJobs have no time to live of their own. In OpenKruise those that are over early are deleted while others still pull,
//     and then made again: they pull over and over. (ILP-5)
//   - The status is about the present spec alone: a job is not over since those of the spec before are. (ILP-4)
//   - The name of an ImagePullJob follows from the job and its spec, so that each image has one. (ILP-3)
//   - failedImageStatuses are sorted, and name images whose ImagePullJob cannot be created. (ILP-4)
//   - A parallelism that is no number, and a deadline below 1 second, are refused before ImagePullJobs have them. (ILP-2)
//   - status.observedGeneration says which spec the status is about.
package imagelistpulljob
