// SPDX-License-Identifier: Apache-2.0

// Package injection computes what SidecarSets inject into a pod that is created.
//
// Inject is a pure function of a pod, its namespace and the SidecarSets. It returns the pod with
// everything injected, and for each SidecarSet whether it matched, and why not. It needs no
// cluster, so that a test can ask what a pod will look like. A webhook calls it for pods that users
// create.
//
// The rules are in RULES.md, by the ids that comments cite.
//
// # Differences
//
// What is written into pods is what OpenKruise 1.4 writes. Behaviour of OpenKruise that harms users
// is different here. What later releases do otherwise is switched by Features, see FeaturesOf.
//
//   - Injecting twice, as the API server does if webhooks are invoked again,
//     changes nothing, init containers included. An init container of the name of one of
//     the pod's takes its place; OpenKruise has the pod refused.
//   - A custom version is looked for among the SidecarSet's own revisions, not among
//     those of all.
//   - SidecarSets act in the order of their names.
//   - kubectl goes on to take the pod's own container if users name none, by an annotation,
//     although a sidecar stands in front of it. (SCI-19)
//   - The hashes are computed of the spec, not read from annotations of the SidecarSet,
//     which are out of date if its webhook is not served.
package injection
