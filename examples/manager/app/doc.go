// SPDX-License-Identifier: Apache-2.0

// Package app is the manager: it shows how a program embeds podwright. What it runs is listed in kinds.go, an entry for
// each kind, there or in the file of its area: its controller, flags and webhooks. The RBAC rules follow from that. What
// webhooks know of objects in every replica is composed in admissions.go. The process around it is that of module kit.
// Feature gates, flags and logs are those of component-base. Main is the whole command; Manager runs in the calling
// process, as tests do.
//
// Controllers share informers of their own, not controller-runtime's cache, and run with the library's loop. A kind is
// watched once, and objects are not copied to be read.
//
// The order of things is that of OpenKruise 1.4. Certificates and the registration of the webhooks come first, within 20
// seconds. Controllers start when the webhook server answers, and in one replica only. At the end the controllers finish
// their reconciles, then the servers stop, then the Lease is released.
//
// StatefulSets are stored as v1beta1 and served as v1alpha1 too; every replica converts between the two, whether it leads
// or not. CRDs are installed without a conversion webhook. It is entered (spec.conversion and nothing else) when the
// replica presents its certificate. From then on it is kept in order, however a user has installed the CRD. Without the
// RBAC rule to list, watch and patch the customresourcedefinition statefulsets.apps.kruise.io, the manager says so and
// does the rest. A user who removes the manager for good sets the strategy of the conversion to None, or v1alpha1
// requests fail.
//
// What the manager asks of the API server stands in rbac/manager.yaml for the default flags, and --print-rbac prints it
// for others. With --namespace the rules are confined to that namespace, but for those of webhooks, and of nodes,
// NodeImages and events about these.
//
// What is promised to those who run it stands in
// https://github.com/podwright/podwright/blob/main/examples/manager/RULES.md
//
// # Differences
//
// From the manager of OpenKruise 1.4, whose flags are all accepted:
//   - leadership is held by the Lease alone, not by a ConfigMap as well. The Lease has the same name, so the two do not
//     work at the same time.
//   - a leader that stood still for longer than its Lease writes nothing when it goes on, until it has renewed the Lease.
//   - a controller whose CRD is missing starts as soon as the CRD is installed. A restart is needed if a controller
//     works without another kind, as image pulls do without CloneSets, whose order they adopt.
//   - the gate KruisePodReadinessGate leaves pods in the manager's own namespace out, or no manager could start while
//     none is there.
//   - missing webhook configurations are created, with what is served, and a CRD without a conversion webhook gets it.
//   - ResourceDistributions are kept only with the gate ResourceDistributionGate, as by OpenKruise from 1.5 on: it
//     takes the right to read and write all Secrets.
//   - the pull secrets of ImagePullJobs are copied to the namespace kruise-daemon-config, which has to exist, unless
//     --imagepulljob-refer-to-source-secrets says otherwise.
//   - the Secret keeps the former authority behind the new one in ca-cert.pem, so that no request fails in between.
//   - certificates of a Secret are not written to a folder; the server takes them from memory.
//   - profiles are not served unless asked for, and requests to the API server are not limited by the client.
package app
