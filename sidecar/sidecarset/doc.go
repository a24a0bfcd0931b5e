// SPDX-License-Identifier: Apache-2.0

// Package sidecarset manages SidecarSets: it injects containers into pods that are created,
// and updates the images of those containers later, in place.
//
// Every reconcile of a SidecarSet has three steps. Observe reads the caches into a [Snapshot].
// [NewPlan], a pure function, decides. A [Plan] lists the revision to write and the pods to update
// in their order. For each pod that waits it lists the rule and the number that hold it. Apply does
// what the plan says. So every decision can be called in a unit test, shown before it happens, and
// explained afterwards.
//
// Admission says what is wrong with a SidecarSet and with a change of it. It also says what is
// wrong with two that would inject things of one name into one pod. It says which annotations a
// cluster's white list lets them patch. What is injected is computed in package injection.
// [Webhook] serves it, and [Injector] is the step of the webhook of pods; both read
// [AdmissionCaches] in every replica of a program.
//
// What a SidecarSet does stands rule by rule in
// https://github.com/podwright/podwright/blob/main/sidecar/sidecarset/RULES.md
//
// # Hot upgrades without failed requests
//
// The container that is replaced is emptied once the new one is ready. Give hot containers a
// readinessProbe. Since Kubernetes 1.35 one that has a startupProbe alone is called ready from its
// start until that probe has run once. The controller waits for that (IP-45); Services do not.
//
// # Differences
//
// SidecarSets are those of OpenKruise 1.4, and what is written into pods and revisions is the same.
// What releases after 1.4 do otherwise is switched by Features, see [FeaturesOf]. Behaviour of OpenKruise that harms users is
// different here:
//
//   - A namespace that no namespace can be called is refused.
//   - With the switch NativeSidecars of package injection, images of native sidecars are updated in place, which no release
//     does. A native sidecar is never upgraded hot. (SCS-40, SCS-V20)
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (SCS-27)
//   - A percentage in maxUnavailable is rounded up: 5% of 6 pods is 1. OpenKruise rounds
//     down, and updates none.
//   - A pod that is deleted in the middle of its update holds up nothing. Nothing is
//     remembered of pods between two reconciles.
//   - Two updates one upon the other take no more pods out of service than one: those of the
//     first count until they are over.
//   - That counts all pods which an update took out of service, whether the selector of the update
//     matches them now or not. Mirror pods are left alone.
//   - A partition beside a selector is taken, with a warning. OpenKruise 1.8 and later refuse it. (SCS-V14)
//   - A revision in the form of another release is used. OpenKruise makes a new one of the same content. (SCS-32)
//   - The condition SidecarSetUpgradable of a pod becomes true again when a field is changed back. (SCS-33)
//   - A second injection keeps what the policy Partial has drawn for a pod. (SCS-31)
//   - Hot containers are emptied within maxUnavailable, and not while the update is paused or its type is
//     NotUpdate. Only those are emptied that an upgrade has left behind, whatever empty image the spec
//     has now.
//   - A second hot upgrade of a pod that serves begins when the first is over. That is when the
//     container that does not work any more is seen with the empty image.
//   - The way back from a hot upgrade whose container fails has the former one work again.
//     In OpenKruise the failing one stays at work.
//   - One pod that cannot be updated does not hold up the others. A pod that did not serve before its
//     update, and has its sidecars, does not hold them up either. (SCS-8)
//   - Of two SidecarSets with a container of one name in a pod, one alone ever writes to it. (SCS-28)
//   - MergePatchJson leaves a value that it cannot merge, or whose array it would replace, and an event says so. (SCI-5)
//   - The sidecars of a pod wait while its workload updates it in place, for 5 minutes at most.
//   - Conditions of the status, and events, count and name the pods that cannot be updated in place
//     and those that were created without the sidecars. OpenKruise says nothing of them.
//   - Images with a digest may come from a mirror, and images of two names may be the same.
//   - An update replaces the images that have changed in the SidecarSet. OpenKruise replaces the others, too, if a webhook
//     of others has rewritten them in a pod, and so restarts their containers. (SCS-41)
//   - The API server asks the webhook about those pods alone that a SidecarSet may match, see
//     [MatchExpression]. All others are created while no webhook answers.
//   - Containers are judged by the API server, in a dry run. A change that leaves spec and
//     labels as they are is not judged again.
//   - conditions and selection of the status are additions. lastContainers in the state that
//     is recorded on pods is one, too. Readers of OpenKruise ignore them.
package sidecarset
