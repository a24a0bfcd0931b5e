// SPDX-License-Identifier: Apache-2.0

// Package apply applies plans. Each struct has one job:
//
//   - A Writer belongs to a controller. It has the clients, and remembers what was written, refused and denied.
//   - A Sync is one reconcile of one object. Its methods write: a pod, a claim, a revision, the status. Each remembers its write,
//     records its event, and says which failure is none.
//   - An Applier applies the plan of a workload of pods, for CloneSets, StatefulSets, DaemonSets and SidecarSets. Its methods are the
//     steps that these share. The kind's own apply is a plain function that takes them in its order, with its own steps between.
//   - A PodControl writes single pods of such a plan. There a kind does more about a pod than the others.
//
// Every write names the UID of its object, so that it cannot hit another one of
// the same name. It is remembered, so that the next reconcile waits until the
// caches show it. One failure does not stop the others: errors are joined.
package apply
