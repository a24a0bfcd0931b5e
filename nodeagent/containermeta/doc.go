// SPDX-License-Identifier: Apache-2.0

// Package containermeta reports, for the pods of one node, which containers
// really run. It restarts those whose environment comes from labels or
// annotations that have changed.
//
// The report is the annotation apps.kruise.io/runtime-containers-meta of a pod.
// It has per container its ID, its restart count and the kubelet's hash of its spec. It also
// has a hash of the environment that it got from single labels and annotations. By it
// a controller in the cluster can tell when an in-place update is complete (see
// package inplace). The kubelet does not restart a container when a label
// changes. While an in-place update is under way, and only then, this package
// does, as the kubelet would: preStop hook, grace period and all.
//
// Pods of workloads of the group apps.kruise.io and pods with injected sidecars
// are reported, no others.
//
// Every reconcile of a pod has three steps. Observe reads the pod from a cache and
// its containers from the runtime into a [Snapshot]. [NewPlan], a pure function,
// decides. A [Plan] has the report, the environments to read for it, the
// containers to stop, and what everything else waits for. Apply applies the plan.
//
// A change costs one write. A heartbeat costs nothing, and neither does the start
// of an agent if the annotations are right; the runtime is not asked either.
// Nothing is kept but the times of tries that failed: an agent can be killed at
// any moment.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/nodeagent/containermeta/RULES.md
//
// # Differences
//
// The annotation, its hashes and what restarts are those of OpenKruise 1.4. If
// its agent harms users, this one does otherwise:
//
//   - The environment of a container is read from what the runtime recorded of
//     it, not by a command in it. So images without the command env work, and values
//     with line breaks and blanks are read as they are. Containers that have
//     ended can be read, and nothing is run in containers of users. If a
//     runtime tells no environments, env is run, with zero bytes between the
//     variables if it can.
//   - A container that takes no variable from labels or annotations needs no
//     environment to be read: its hash is known.
//   - An environment that cannot be read is tried again after 3 s, 6 s and so on
//     up to 10 minutes. It is not tried every 3 s for ever. An event says so,
//     once.
//   - A variable that a later one of the same name replaces counts as right. It
//     cannot be seen, and the container would be restarted again and again.
//   - When the agent starts, pods without an annotation in the middle of an
//     in-place update are reported at once: the update waits for that.
//   - A restart that waits while other pods of its namespace hold their share of the workers says so in an event.
//   - An annotation that cannot be read is replaced.
//   - The restarts of one pod do not hold up the report of others. An update
//     that ends while a container waits for its restart leaves it alone.
package containermeta
