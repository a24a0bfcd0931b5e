// SPDX-License-Identifier: Apache-2.0

// Package lifecycle is the state machine by which other controllers take part
// in what a workload does to its pods. They do so before a pod is deleted, before and
// after it is updated in place, and before a new pod counts as available.
//
// A hook lists labels and finalizers. Another controller puts them on the pod
// and takes them off; the workload only reads them, and records the pod's state
// in a label:
//
//	PreparingNormal ── preNormal met ──▶ Normal ◀── inPlaceUpdate met ── Updated
//	                                       │ update wanted                  ▲
//	                                       ▼                                │ complete
//	                        inPlaceUpdate holds: PreparingUpdate ──▶ Updating
//	any state ── delete wanted, preDelete holds ──▶ PreparingDelete ──▶ deleted
//
// "Holds" means that the pod has at least one of the listed labels and
// finalizers ([HookedAny]); "met" means that it has all of them ([HookedAll]).
//
// A workload calls [Refresh] for each of its pods, and [BeginUpdate] for a pod that
// it wants to update in place. It calls [BeginDelete] for a pod that it wants to delete
// and [CancelDelete] for a pod that is to stay after all. Each decides
// one step and puts what has to be written into a [podpatch.Patch]; label and
// conditions of a step then travel in one request. All functions are pure:
// pods are read and never changed, the time is an argument. The state that a
// patch holds already counts as the state of the pod, so that one patch may go
// through several functions.
//
// This package and [github.com/podwright/podwright/lifecycle/readiness] are arithmetic. The packages below hold
// controllers and webhooks of pods, whatever those belong to. Each has what they decide by: containers that start
// in order, are restarted, probed or injected.
//
// What the states mean stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same labels, annotations and conditions:
//
//   - The key preUpdateHook, which keeps a pod out of service, is removed
//     whenever the pod reaches Updated or Normal. That holds also if
//     markPodNotReady was switched off meanwhile. OpenKruise removes it on the
//     way to Updated only, and a pod that goes straight to Normal stays not
//     ready for good.
//   - A pod found in Normal, or without a state, with a key left behind by that
//     path is put back into service by Refresh.
//   - With a lifecycle but no inPlaceUpdate hook, a pod goes from Updating (or
//     PreparingUpdate) straight to Normal: one request instead of two.
//   - CancelDelete removes the keys of this package, so that a pod that stays
//     comes back into service. It is still refused if markPodNotReady is set
//     on preDelete or inPlaceUpdate; see [CancelAllowed].
package lifecycle
