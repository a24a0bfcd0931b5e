// SPDX-License-Identifier: Apache-2.0

// Package resource copies a Secret or a ConfigMap to many namespaces, as a
// ResourceDistribution says, and keeps the copies as they are there.
//
// [parseTargets] says which namespaces get a copy, [parseTemplate] what is in it, and
// [NewPlan] what is to be written; none of them needs a cluster. [New] makes the controller,
// [Webhook] says what is wrong with a ResourceDistribution.
//
// A change of the template is one write for each namespace and one for the status; nothing is read
// for it. Only copies are watched, by a label, and of what is in them no more than a fingerprint is
// kept. So the Secrets of a cluster cost nothing, and its memory holds none.
//
// The rules stand in
// https://github.com/podwright/podwright/blob/main/distribution/resource/RULES.md
//
// # Differences
//
// From OpenKruise 1.4:
//   - A template whose every copy the API server would refuse is refused.
//   - kube-system and kube-public get copies only if they are included by name. Copies that
//     OpenKruise has made there stay, and no controller keeps them any more. (RD-1)
//   - copies have a label of podwright's own. Those that OpenKruise has made get it when they are
//     found, at the first reconcile; in namespaces that are no targets by then they stay. (RD-5)
//   - an object of the same name is looked at again every five minutes, and not at each event. So
//     its namespace gets a copy some time after it has gone. (RD-10)
//   - a template with stringData, or without a type, is written once, and an immutable copy, or one
//     of another type, is replaced. (RD-8)
//   - copies of a former ResourceDistribution of the same name are taken over, before the garbage
//     collector deletes them. (RD-8)
//   - failures are recorded in events too. (RD-15)
//   - With Features.Sources, which is off, the copies have the content of a Secret or ConfigMap that
//     spec.sourceRef names. Its owner consents by a label, and Webhook.Access is asked whether the user
//     who writes the ResourceDistribution may get it. (RD-17, RD-18)
//   - The condition HeldUp says what has been held up for a minute, by what, and since when. (RD-25)
package resource
