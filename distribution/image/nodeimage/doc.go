// SPDX-License-Identifier: Apache-2.0

// Package nodeimage manages NodeImages: every node that is ready has one, with the
// labels of the node. It takes away the tasks in them that nobody needs any
// more, and fails those that the agent of the node has left alone for too long.
// Package imagepulljob assigns the tasks.
//
// Every reconcile of a node has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists what to
// create, to delete and to change, and for each task that goes or fails the
// reason. Apply does what the plan says. So every decision can be called in a unit
// test, shown before it happens, and explained afterwards.
//
// The heartbeats of nodes cost nothing: a node is enqueued when the labels or the
// readiness of a node change, when tasks or their states change, when a job
// ends, and when a time is up that the plan names.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
//
// # Differences
//
// NodeImages are those of OpenKruise 1.4. Where its behaviour harms users, this
// package does otherwise:
//
//   - On a node that is not ready, a task fails that the agent has not reported on
//     for one minute, also where [Timing.ResponseTimeout] is longer.
//   - A finished task stays beyond its TTL while a job that is not over counts
//     the node by it. Otherwise the node would pull again, and a job that takes
//     longer than the TTL would never end. A job of the type Never has its nodes
//     pull again after the TTL, as before.
//   - The tasks of a job that is gone are taken away at once, also after a restart
//     of the manager.
//   - Before tasks are taken away because their jobs are gone, and before a
//     NodeImage is deleted because its node is gone, the API server is asked
//     whether that is so, once per job or node. The cache of one kind may lag
//     behind that of another.
package nodeimage
