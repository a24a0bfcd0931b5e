// SPDX-License-Identifier: Apache-2.0

// Package broadcastjob manages BroadcastJobs: it runs one pod to its end on every
// node that fits the pod, a limited number at a time.
//
// Every reconcile of a job has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the pods to create
// and to delete. For each node that waits it has the rule and the number that hold it.
// Apply does what the plan says. So every decision can be called in a unit test, shown
// before it happens, and explained afterwards.
//
// A reconcile waits until the caches have seen what earlier ones of the same job
// wrote. It never waits for the writes of other jobs.
//
// What a job does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/broadcastjob/RULES.md
//
// # Differences
//
// Jobs are those of OpenKruise 1.4. If its behaviour harms users, this package
// does otherwise:
//
//   - A parallelism that is no number, and a deadline of 0 seconds, with which no pod ever runs, are
//     refused.
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (BJ-31)
//   - status.nodeResults holds how the pod of every node ended. A finished pod stays
//     counted when it is deleted, and its node is not run again. OpenKruise counts
//     the pods that exist, and runs the node again. A failed pod that is deleted while
//     the failure policy is Pause is forgotten, as in OpenKruise. That is how a user has its
//     node run again. It names 1,000 nodes; the others are in status.moreNodeResults.
//   - Pods have names that follow from job, node and the pod that the node had before, with
//     generateName beside them. So no lost answer leads to a second pod on a node.
//   - A pod that fails while it is being deleted has not failed. To drain or to cordon
//     a node does not fail a job of the policy FailFast, and its node is run again.
//     OpenKruise counts it if it happens to see it.
//   - A job is complete when every desired node has a result; a pod that is being
//     deleted is waited for.
//     One that terminates for ever, as on a dead node, counts as failed after 15 minutes.
//   - A pod that has restarted too often has failed, and the job does not wait for it, and
//     deletes it when it ends. In OpenKruise such a job never completes, and if it
//     fails the pod restarts for ever.
//   - A job of the type Never runs on a node that takes the place and the name of another. It does so
//     also if the finished pod of the other is still there.
//   - When a job fails, its results are written before its pods are deleted. Deletion is
//     tried until it succeeds. A pod that leaves a node that fits no more is not
//     counted as failed meanwhile.
//   - The deadline is found by every reconcile; a restart of the manager loses nothing.
//   - An unfinished pod whose node is gone is deleted: one that no scheduler can bind
//     would be active for ever.
//   - Of pods whose nodes do not fit them any more, ten at most are deleted in 5 s, or a tenth of all. (BJ-32)
//   - active counts pods that exist: a creation that failed is none.
//   - The status has observedGeneration. It is written when it changes, and events of
//     what lasts are recorded when it begins, not by every reconcile.
//   - What the webhook refuses has the code 422.
package broadcastjob
