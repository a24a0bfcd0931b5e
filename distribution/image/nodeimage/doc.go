// SPDX-License-Identifier: Apache-2.0

// Package nodeimage manages NodeImages: every node that is ready has one, with the labels of the
// node. It takes away the tasks that no job needs any more. It fails those that the agent of the
// node has left alone for too long. Package imagepulljob assigns the tasks.
//
// Every reconcile of a node has three steps. Observe reads the caches into a [Snapshot]. [NewPlan],
// a pure function, decides. A [Plan] lists what to create, to delete and to change, and for each
// task that goes or fails the reason. Apply does what the plan says. So every decision can be
// called in a unit test, shown before it happens, and explained afterwards.
//
// The heartbeats of nodes cost nothing. A node is enqueued when the labels or the readiness of a
// node change, when tasks or their states change, or when a job ends. It is also enqueued when a
// time is up that the plan names.
//
// # Pulls through the kubelet
//
// What an agent pulls through the container runtime is "preloaded" for the kubelet, which by
// default lets every pod of the node use it. With [Options.PullPods] no agent pulls. The manager
// has a pod per node and job that has the image as a volume. It is in the namespace of the job and
// has its pull secrets. The kubelet pulls it, notes with which credentials, and from Kubernetes
// 1.35 lets pods use the image only with these. Nothing of the image is run. What it takes, and
// costs:
//
//   - Kubernetes 1.35, or the feature gate ImageVolume of 1.33 on API server and kubelets, and
//     a container runtime that mounts images (containerd 2.1, CRI-O 1.31). Linux nodes only.
//   - No agent may pull, since both would report on the same tasks: the example agent has
//     --pull-images=false.
//   - The pods count against quotas of the namespace and the pods of a node. Pulls stand in the
//     kubelet's queue with those of all other pods. By default it pulls one image after another,
//     and a registry that does not answer holds them all up. Set serializeImagePulls to false and
//     maxParallelImagePulls in its configuration.
//   - An image that is on the node and that the kubelet has not pulled, as one that an agent pulled
//     before, stays preloaded. The kubelet checks no credentials for it.
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
// NodeImages are those of OpenKruise 1.4. Behaviour of OpenKruise that harms users is different
// here:
//
//   - On a node that is not ready, a task fails that the agent has not reported on for one minute,
//     even if [Timing.ResponseTimeout] is longer.
//   - A finished task stays beyond its TTL while a job that is not over counts
//     the node by it. Otherwise the node would pull again, and a job that takes
//     longer than the TTL would never end. A job of the type Never has its nodes
//     pull again after the TTL, as before.
//   - The tasks of a job that is gone are taken away at once, also after a restart
//     of the manager.
//   - Tasks are taken away when their jobs are gone, and a NodeImage is deleted when its node is
//     gone. Before that the API server is asked whether it is so, once per job or node. The cache
//     of one kind may lag behind that of another.
package nodeimage
