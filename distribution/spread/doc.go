// SPDX-License-Identifier: Apache-2.0

// Package spread is the arithmetic of WorkloadSpreads. It computes which subset a new pod goes to,
// what it gets from it, what deleting a pod costs, and what the status says.
//
// All of it are pure functions. [Inject] takes a pod that is about to be created, and what is known of its workload. It
// returns the pod to create, its subset and why. A webhook or a workload that creates pods calls it. [Compute] takes
// the same for the pods that are there. Who is in which subset is read from the pods themselves, and from the
// [Reservation]s of those that are not seen yet. Of the status of a WorkloadSpread decisions read two things:
// creatingPods, and how long a subset is left alone whose pods could not be scheduled.
//
// The rules are in RULES.md, by the ids that comments cite.
//
// # Differences
//
// What is written into pods, and into the status, is what OpenKruise 1.4 writes. Behaviour of
// OpenKruise that harms users is different here:
//
//   - Tolerations and fields of nodes that the API server takes in no pod are refused.
//   - Admission writes new pods into creatingPods alone, by one request for all that come at once. It does not write
//     those of workloads that place their own pods. A pod that was refused stops counting after a second. deletingPods
//     of the status stays empty.
//   - A new pod of the latest revision goes to a subset in which that revision misses one. So a rolling update
//     that creates before it deletes ends as it began.
//   - Pods get their subset before the status was written for the first time.
//   - With percentages what deleting a pod costs interleaves the subsets: a workload that is scaled
//     in by far at once keeps them even.
//   - Old revisions count as surplus before the latest one. OpenKruise 1.6 and later give them costs in the opposite order of
//     the subsets; here all revisions share the limits, and the surplus goes first.
//   - A pod that has not started is deleted if it is not scheduled in time. It is also deleted
//     if it came to a subset beyond its share while another one misses it. Those of Jobs and
//     StatefulSets only in the former case. A Job counts a deleted pod as failed, and fails beyond its backoffLimit. So
//     its pods stay once half of that has failed. (WS-37)
//   - rescheduleCriticalSeconds may be an hour, however many subsets there are; a subset takes no new pods until all
//     behind it have been tried. OpenKruise refuses more than 295 s for all together.
//   - The new field targetFilter of OpenKruise 1.8 without a selector spreads all pods. A path of it that leads nowhere is
//     told by the status.
//   - The status does not count by versions of pods: versionedSubsetStatuses stays empty, of whatever release
//     the switches are. (WS-20)
//   - Kinds of the white list may have any name. An owner that no cache shows is asked for, and its pod is not refused.
//   - Ordinals of a StatefulSet count from spec.ordinals.start, and leave out reserved ones.
//   - Injecting twice changes nothing.
//   - A required term without expressions is none, and one of a pod stays what it is: it matches no
//     node.
//   - A patch is refused which changes labels by which the workload or a controller knows its pods. If
//     it is there already, no pod is created with it, and the subset says so.
//   - Of the metadata of a patch, pods that were there before get labels and annotations.
package spread
