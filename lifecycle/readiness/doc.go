// SPDX-License-Identifier: Apache-2.0

// Package readiness takes pods out of service and back, through readiness
// gates and the conditions that belong to them.
//
// The condition KruisePodReady is shared: each writer that wants the pod out
// of service adds a [Key] to it and removes the key when done. The condition
// is True only while no key is there. The keys stand in the condition's
// message, as a JSON array sorted by userAgent and key:
//
//	[{"userAgent":"Lifecycle","key":"preDeleteHook"}]
//
// The kubelet computes a pod's Ready condition from its gates, but only when
// it next looks at the pod. [Withdraw] does it at once, so that the pod leaves
// its services with the same write that closes the gate. The way back is left
// to the kubelet: it alone knows that the containers are still ready.
//
// All functions are pure. They read a pod that is never changed, and collect
// what to write in a [podpatch.Patch]. What the patch already holds counts as
// if the pod had it, so several rules can use one patch.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/podreadiness/RULES.md
//
// # Differences
//
// Compared with OpenKruise 1.4, on the same wire format:
//
//   - A key added to a pod that has no KruisePodReady condition yet makes one
//     with status False. OpenKruise left the status empty there, which API
//     servers still accept but which is none of True, False and Unknown.
//   - A withdrawn Ready condition gets the time of the withdrawal as its last
//     transition. OpenKruise left the time empty.
//   - A key that is listed although another client set the condition to True is put
//     in force again when it is added. The status becomes False.
package readiness
