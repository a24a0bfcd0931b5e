// SPDX-License-Identifier: Apache-2.0

// Package daemonset manages Advanced DaemonSets: it runs a pod on every node that
// fits it. It updates the pods node by node, in place if it can.
//
// Every reconcile of a DaemonSet has three steps. Observe reads the caches into a
// [Snapshot]. [NewPlan], a pure function, decides: a [Plan] lists the pods to create,
// to delete and to change. For each pod that waits it has the rule and the number that hold
// it. Apply does what the plan says. So every decision can be called in a unit test,
// shown before it happens, and explained afterwards. [Rollout.Replace] is the
// arithmetic of an update alone.
//
// A reconcile waits until the caches have seen what earlier ones of the same DaemonSet
// wrote. It never waits for the writes of other DaemonSets.
//
// What a DaemonSet does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/workloads/daemonset/RULES.md
//
// # Differences
//
// DaemonSets are those of OpenKruise 1.4, which are those of Kubernetes with more ways
// to update. If the behaviour of either harms users, this package does otherwise:
//
//   - A preDelete hook of labels and finalizers that no pod can have is refused.
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (DS-23)
//   - maxUnavailable is the most that an update takes out of service. In OpenKruise and
//     Kubernetes, old pods that are not available are replaced beside it. A restart of
//     all kubelets, or two updates within minReadySeconds, lets all pods go at once.
//     Old pods that never became ready are replaced at once here too: no client misses them.
//   - With maxSurge, an old pod that served stays until the new one beside it serves, also
//     when it is not ready for a moment. A node counts until an updated pod is
//     available there. Otherwise a bad image takes one node after the other.
//   - No pod is updated to a template that the selector does not match.
//   - A pod that is created on a node that partition or selector hold back is of the
//     revision that the node had. OpenKruise creates it of the present template.
//     status.currentRevision names that revision.
//   - A pod on a node that takes no new pods, for a taint NoSchedule, is not
//     recreated by an update: it would not come back. It stays unchanged until the
//     taint goes. It takes no part in partition and maxUnavailable.
//   - Pods on nodes that fit no more do not count in maxUnavailable.
//   - Of several pods on a node an available one stays, and otherwise the oldest.
//   - Pods have names that follow from DaemonSet, node and the pod that the node had before,
//     with generateName beside them. So no lost answer leads to a second pod on a node.
//   - A node for which the API server refuses a pod does not keep others from theirs.
//   - A percentage in burstReplicas stands for one pod at least.
//   - maxSurge 0 alone means maxUnavailable 1, as in Kubernetes; OpenKruise refuses it.
//   - conditions and collisionCount of the status are maintained.
//   - The conditions Reconciling and Stalled say, beside counters, whether the spec is reached. Consumers that know no
//     more of a kind than its conditions took an update in progress for its end.
//   - What the webhook refuses has the code 422.
//   - v1beta1, as OpenKruise 1.9 has it, is served on demand, or if a cluster
//     stores it, and converted without loss; see workloads/conversion.
//   - If the API server refuses to create the revision of a new template, missing pods come from the
//     current one, and only the update waits. Otherwise lost pods would not be replaced.
//   - A percentage as partition is of the nodes that should run a pod now, also with PartitionRoundsDown. OpenKruise 1.9 takes the
//     number that the status before says. (DS-25)
package daemonset
