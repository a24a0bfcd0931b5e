// SPDX-License-Identifier: Apache-2.0

// Package barrier makes the containers of one pod start in order.
//
// The kubelet does not create a container whose environment refers to a key of
// a ConfigMap that does not exist. So every container gets an environment
// variable, its barrier, that refers to the key p_<priority> of the ConfigMap
// <pod>-barrier. Package launchpriority writes the keys, from the highest priority downwards,
// and so starts the containers.
//
// [Mutate] puts the barriers into a pod that is about to be created; [Of] and
// [Priority] read them from one that exists. All functions are pure.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/launchpriority/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same annotation, environment variables
// and keys:
//
//   - A barrier that a container has already is replaced, not repeated. So
//     Mutate may be called twice, by the workload that makes the pod and by the
//     webhook. And the manifest of a running pod can be used for another one.
//   - A name for which there can be no ConfigMap <pod>-barrier is refused. The
//     containers of such a pod would wait forever.
package barrier
