// SPDX-License-Identifier: Apache-2.0

// Package controller is the shell of every controller. A kind describes what it reads,
// and how to observe, plan and apply. The shell makes informers, indexes and handlers,
// and has the objects enqueued that an event concerns. It reconciles each on what was
// written before, and ends in order. toy_test.go has a kind of the least size.
//
// # Events
//
// A [Read] declares which fields of a resource the plan reads. All kinds on one
// informer share one handler, which compares these fields once per event. It finds
// by owner references or by a kind's own function whose keys to enqueue.
//
// # Several controllers and one pod
//
// A workload, the readiness of pods, launch priority, restarts on request and the
// node's agent all write to the same pod, without asking each other. That works since
//
//   - each fact has one author: a label, an annotation, a condition and, in a list that
//     several share, an entry by key. Who needs another's fact waits for it;
//   - a write is a strategic-merge patch of its facts alone, with the UID of the pod.
//     It carries no resourceVersion, so what others write in between is no conflict
//     and is not undone;
//   - a fact that several share is patched on the resourceVersion that was read
//     (podpatch.Patch.IfUnchanged). Such is the message of the condition KruisePodReady,
//     which lists who keeps the pod out of service. The second writer has a conflict, and
//     decides again on what is there by then. So is a deletion that was decided by the
//     pod's state;
//   - a controller waits, per resource, until the cache is at the resourceVersion of its
//     last write. The writes of others come as events, and the next plan is made on both.
package controller
