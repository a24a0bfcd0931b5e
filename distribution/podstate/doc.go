// SPDX-License-Identifier: Apache-2.0

// Package podstate is the arithmetic of PersistentPodStates. It computes on which node each pod of a StatefulSet ran
// when it was last seen ready. It also computes how a new pod of the same name is sent there.
//
// It does no I/O and reads no clock. A controller asks Compute for the status, and FindStuck for the pods that wait for
// a node which does not exist. It asks Generate for what the annotations of workloads ask for. A program that creates a
// pod, or admits it, asks Place. So a webhook, a controller of workloads and a test all get the same answer.
//
// The rules are in RULES.md, by the ids that comments cite.
//
// # Differences
//
// What is read and written is what OpenKruise 1.4 reads and writes. Behaviour of OpenKruise that harms users is
// different here:
//
//   - A preference of a weight below 1, which would be left out, is refused.
//   - A required topology that no node is in any more holds no pod back: it is placed elsewhere. OpenKruise: it is
//     Pending for ever.
//   - The node selector of a user stays. What is recorded is required only if a node has it and is as the pod asks for
//     by itself.
//   - A preferred topology of which nothing is recorded makes no term, nor does a weight below 1. One above 100 counts
//     as 100. Otherwise the API server would refuse the pod.
//   - The first ordinal of a StatefulSet need not be 0.
//   - What is recorded follows the labels of the node while the pod is ready there.
//   - What would not fit into the object is refused in words. OpenKruise: the status cannot be written any more.
//   - The replicas of other kinds are read, so that their pods are recorded.
//   - The annotations of workloads count as they are, not only when they change. Spaces around keys do not count. Only
//     what was generated for a workload is deleted, and what annotations say nothing of stays.
package podstate
