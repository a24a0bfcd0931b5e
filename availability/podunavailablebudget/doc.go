// SPDX-License-Identifier: Apache-2.0

// Package podunavailablebudget keeps PodUnavailableBudgets. They say how many pods of a workload or
// a selection may be unavailable at once because users or controllers delete, evict or update them.
//
// A [Controller] computes the status of each budget from its pods and workloads, and tells the pods
// which budget protects them. The API server asks a [Webhook] before a pod goes. Controllers that
// are to honour budgets without a webhook ask a [Guard]. Both book what they allow in the status,
// on the condition that it is as they read it. So any number of them together never allow too much.
// The arithmetic is in package budget.
//
// Every reconcile of a budget has three steps. Observe reads the budget, the pods of its namespace and their workloads
// from caches into a [Snapshot]. [NewPlan], a pure function, decides. Apply sends what the plan says. On demand
// PodDisruptionBudgets show budgets to autoscalers: see Options.Mirror. An answer costs one request if something is
// booked, and none if it is denied. If nothing is to be booked since the budget wants no pods, or does not protect from
// the operation, that is read first. A denied eviction may cost one, for the note on the pod. The eviction of a pod
// that does not count costs two, since that may change.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/availability/budget/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same objects, annotations and webhooks, beside those that
// package budget lists:
//
//   - A refused eviction has the code 429 and the cause DisruptionBudget, not 403, so that kubectl
//     drain and autoscalers wait and try again.
//   - A pod of a CloneSet whose eviction is refused is told so by an annotation. A CloneSet with a
//     maxSurge creates another pod first, so that the only pod of a workload can be drained too.
//   - Pods are told which budget protects them by the controller alone, at their creation or
//     later. No webhook is needed to create them.
//   - The name of a budget is taken off a pod that comes from another workload, if no budget is about the pod. (PUB-47)
//   - A budget that asks for it has a PodDisruptionBudget, which autoscalers see.
//   - The garbage collector and the deletion of namespaces are never refused.
//   - A pod that is not ready when its eviction is allowed does not count until it is gone, or for 20 seconds. It could
//     turn ready before, and let another one go.
//   - A pod that is not there is not refused to be evicted: the API server says so itself.
//   - A budget is judged again when its spec or its annotations change, and only then.
//   - A workload of a kind that is not read is a failure, which an event and a condition tell. Its pods are not
//     taken for unprotected.
//   - The conditions TotalUnknown and PodsElsewhere, which OpenKruise does not know, say what a budget does not protect, or cannot.
//   - The condition HeldUp says what has held a budget up for a minute, by what, and since when. (PUB-42)
//   - One update that takes away the name of its budget and changes a pod is judged.
package podunavailablebudget
