// SPDX-License-Identifier: Apache-2.0

// Package uniteddeployment manages UnitedDeployments (apps.kruise.io). It runs one workload
// in each of several groups of nodes, and splits the replicas over them. It updates each as
// far as its partition lets it.
//
// Every reconcile of a UnitedDeployment has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides. A [Plan] holds what each subset is to have,
// the workloads to create, to change and to delete, and the status. Apply does what the plan
// says. So every decision can be called in a unit test, shown before it happens, and
// explained afterwards. [Allocate] and [allocateWithin] are the arithmetic of replicas alone.
//
// Pods are made by the controllers of the workloads. That of Deployments and StatefulSets of
// Kubernetes is the kube-controller-manager; those of CloneSets and Advanced StatefulSets
// are in packages beside this one.
//
// What the controller does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/uniteddeployment/RULES.md
//
// # Differences
//
// UnitedDeployments, their workloads, revisions and status are those of OpenKruise 1.4. If
// its behaviour harms users, this package does otherwise:
//
//   - Tolerations and expressions that no pod or node can have, and templates whose workloads would be
//     refused, are refused.
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (UD-22)
//   - Every field of a template reaches the workloads.
//   - If the numbers of subsets do not add up to spec.replicas, they are split in
//     proportion. OpenKruise refuses the change, or does nothing.
//   - Without spec.replicas the subsets keep what they give, or have: no default scales pods in.
//   - The scale subresource has a selector, so that autoscalers find the pods.
//   - Workloads of removed subsets and of another kind are deleted once all new ones are there.
//   - A workload that a creation without an answer has made is not created twice.
//   - Orphans of subsets that the topology does not have are left alone. OpenKruise adopts and deletes them.
//   - UnitedDeployments of CloneSets have a history. OpenKruise finds none of their revisions.
//   - A Deployment that is as it should be is not written. OpenKruise writes it in every reconcile.
//   - Of the pods for which the update of a StatefulSet waits, the one that blocks it is deleted. It is not
//     deleted before it has been out of service for minutes. OpenKruise deletes all that are not ready
//     at a moment.
//   - Fields of a StatefulSet's template that it lets change can be changed. The selector cannot:
//     workloads keep theirs.
//   - Names of workloads leave room for the hash in the revision label of their pods.
//   - Failures are in the conditions. OpenKruise never writes those.
//   - If the API server refuses to create the revision of a new template, subsets follow the replicas with
//     the template of the current one. Only the update waits.
//   - Before anything is deleted, the UnitedDeployment is read past the cache.
//   - A patch of the pod template, as later releases of OpenKruise have it.
//   - The status tells of the subsets that there are; entries of removed ones go. (UD-21.7)
//   - With Features.AdaptiveScheduling, which is off unless the release is 1.9, also minReplicas, maxReplicas and the
//     schedule strategy of later releases. What they ask for always adds up, and no ready pod is
//     deleted for one that is to run in another subset.
//   - The condition UnitedDeploymentUpdated, of OpenKruise 1.9, begins anew with each revision: message and time are not those of the first
//     of several changes. (UD-12.5)
package uniteddeployment
