// SPDX-License-Identifier: Apache-2.0

// Package persistentpodstate keeps PersistentPodStates. They record on which node each pod of a StatefulSet ran, so
// that a new pod of the same name can be sent there.
//
// A [Controller] records that in the status, and creates what annotations of workloads ask for. It deletes pods that
// wait for a node which does not exist any more, so that they are placed elsewhere. A [Placer] sends new pods to their
// nodes: for the webhook of pods, and for controllers of workloads, which then need no webhook. A [Webhook] judges
// PersistentPodStates. The arithmetic is in package podstate.
//
// Every reconcile has three steps. Observe reads the PersistentPodState, its workload and pods, and all nodes from
// caches into a [Snapshot]. [NewPlan], a pure function, decides. Apply sends what the plan says. A pod that becomes
// ready on another node than before costs one write of the status. Pods that do so at the same time share it; one that
// comes back costs none.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/podstate/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same objects and annotations, beside those that package podstate lists:
//
//   - A pod that has been sent to a node which is gone is deleted after 30 s, with an event. Its workload creates
//     it again. The condition TopologyLost names such pods, and status.lost counts them.
//   - The status is computed anew when the workload is scaled, too, and not only when its pods go.
//   - The state of pods whose kind is not read does not change, and an event says so.
//   - Pods of Advanced StatefulSets are placed as they are created. No webhook is needed for them.
//   - Pods can get recorded annotations back, which no release does. Without that, a user who asks for annotations is warned. (PPS-35)
//   - A pod waits for the caches of the webhook, and is not placed anywhere before these are filled.
package persistentpodstate
