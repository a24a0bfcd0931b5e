// SPDX-License-Identifier: Apache-2.0

// Package nodeimage manages NodeImages: every node that is ready has one, with the
// labels of the node. It takes away the tasks in them that no job needs any
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
// # Pulls through the kubelet
//
// What an agent pulls through the container runtime is "preloaded" for the kubelet, which
// by default lets every pod of the node use it. With [Options.PullPods] no agent pulls: the
// manager has a pod per node and job, in the namespace of the job and with its pull
// secrets, that has the image as a volume. The kubelet pulls it, notes with which
// credentials, and from Kubernetes 1.35 lets pods use the image only with these. Nothing of
// the image is run. What it takes, and costs:
//
//   - Kubernetes 1.35, or the feature gate ImageVolume of 1.33 on API server and kubelets, and
//     a container runtime that mounts images (containerd 2.1, CRI-O 1.31). Linux nodes only.
//   - No agent may pull, since both would report on the same tasks: the example agent has
//     --pull-images=false.
//   - The pods count against quotas of the namespace and the pods of a node, and pulls
//     stand in the kubelet's queue with those of all other pods: by default it pulls one
//     image after another, and a registry that does not answer holds them all up. Set
//     serializeImagePulls to false and maxParallelImagePulls in its configuration.
//   - An image that is on the node already and that the kubelet has not pulled, as one that
//     an agent pulled before, stays preloaded, and the kubelet checks no credentials.
//   - The copies of pull secrets that package imagepulljob makes for agents are not
//     needed: set its Options.ReferToSourceSecrets.
//   - If the option is turned off again, pods that are left end by themselves, and go with
//     their jobs.
//
// What manager and agent do stands rule by rule in
// https://github.com/podwright/podwright/blob/main/distribution/image/RULES.md
//
// # Differences
//
// NodeImages are those of OpenKruise 1.4. If its behaviour harms users, this
// package does otherwise:
//
//   - On a node that is not ready, a task fails that the agent has not reported on
//     for one minute, also if [Timing.ResponseTimeout] is longer.
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
