// SPDX-License-Identifier: Apache-2.0

// Package podprobemarker manages PodProbeMarkers: it keeps each until no node has probes of it any more, and counts the pods
// that it selects. What nodes probe is for package [github.com/podwright/podwright/lifecycle/probe/nodepodprobe], which has to
// run beside it.
//
// Every reconcile of a marker has three steps. Observe reads the caches into a [Snapshot]. [NewPlan], a pure function,
// decides. A [Plan] has the finalizers and the status to write, and says what a marker that is being deleted waits for.
// Apply does what the plan says. A reconcile waits until the caches have seen what earlier ones of the same marker wrote.
//
// [Webhook] refuses markers that are invalid; [ValidateCreate] and [ValidateUpdate] are the same as pure functions. No marker
// has a host: a probe goes to its pod.
//
// What it does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/lifecycle/probe/RULES.md
//
// What it does otherwise than OpenKruise stands in package [github.com/podwright/podwright/lifecycle/probe].
package podprobemarker
