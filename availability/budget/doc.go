// SPDX-License-Identifier: Apache-2.0

// Package budget is the arithmetic of PodUnavailableBudgets. It computes which pods a budget
// protects, and how many of them may become unavailable. It decides whether one of them may be
// deleted, evicted, updated or resized now.
//
// It does no I/O and reads no clock. A controller asks Select for the pods and Compute for the
// status. A caller that is about to take a pod down asks Decide. Before it goes on, it writes the
// status that Decide returns, on the condition that the budget is as it was read. So a webhook, a
// controller of workloads and a test all get the same answer.
//
// The rules are in RULES.md, by the ids that comments cite.
//
// # Differences
//
// What is read and written is what OpenKruise 1.4 reads and writes. Behaviour of OpenKruise that
// harms users is different here:
//
//   - A negative protect-total-replicas, of which nothing is protected, is refused.
//   - Nothing is allowed before the first status of a budget is written. OpenKruise allows
//     everything until then.
//   - Nor is it by the status of an older generation: a budget that was tightened holds at once.
//   - What is not known protects: while it is not known how many pods a workload wants, no available pod may go. OpenKruise allows
//     all. Pods of no controller want themselves.
//   - What is not counted is not judged: a pod that was taken aside, or released, can be deleted.
//   - A pod belongs to one budget, and does not count in others; the name of a budget that is gone counts as none.
//   - A stored protect-total-replicas that is no number is passed over. OpenKruise 1.9 reads it as 0.
//   - A pod that is asked about again and again holds its place in a budget for a minute: then it stands in line again.
//   - Pods of a Deployment's ReplicaSets that want 0 count, as from OpenKruise 1.5 on.
//   - Records are about pods, not names: a new pod of a name is protected although the
//     deletion of the one before was allowed.
//   - Pods count as available once they are told of their budget: until then no client asks before they go.
//   - Pods that are marked for deletion allow no more disruptions of others than there would be
//     without them.
//   - ReplicaSets belong to whatever controls them, a Rollout as well as a Deployment.
//   - What is scaled to 0, or is being deleted, protects nothing, with minAvailable as a number
//     too: otherwise its pods could never go.
//   - A digest of another repository is the same image, as when a mirror served it.
//   - What a resize is allowed counts as an update, not as a deletion that is still to come.
//     Resizes at pods/resize are judged too.
//   - A workload that does not say how many pods it wants wants 1.
package budget
