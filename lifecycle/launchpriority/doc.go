// SPDX-License-Identifier: Apache-2.0

// Package launchpriority starts the containers of a pod in order.
//
// Pods are made with barriers, see [barrier.Mutate]: none of their containers
// can be created before its key stands in the ConfigMap <pod>-barrier. The
// controller of this package writes the keys: that of the highest priority
// first, and each further one when all containers before it are ready. Who
// made the pod does not matter, and no key is ever removed; the ConfigMap is
// owned by the pod and goes with it.
//
// Every reconcile of a pod has three steps. Observe reads the pod from the cache
// and its ConfigMap from the API server into a [Snapshot]. [NewPlan], a pure
// function, decides; apply sends at most one write. A pod costs two requests
// per priority: one to read its ConfigMap, one to write it. Pods without
// barriers, pods whose containers are all ready, and events that change nothing
// cost none. ConfigMaps are not cached: a cluster has many, and they cannot be
// told apart before they are read.
//
// [Mutate] is for the webhook that all pods go through, see package
// podwebhook. CloneSets and StatefulSets do not need it: they make their pods
// with barriers.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/launchpriority/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same ConfigMap and keys:
//
//   - The ConfigMap is created with its first key, not empty and then patched:
//     one request less. So there is none while there is no key to write.
//   - A ConfigMap of that name that does not belong to the pod is left alone.
//     That of a former pod of the same name, which a StatefulSet's pods meet,
//     is waited for until the garbage collector has removed it. About any other
//     an event is recorded if it lacks a key.
//   - Pods that have ended or are being deleted get no keys.
//   - A container that has ended with success, and stays so, counts as ready: it
//     does not keep the others of a job from starting forever.
//   - A barrier that refers to the ConfigMap of another pod does not keep the
//     other containers waiting.
package launchpriority
