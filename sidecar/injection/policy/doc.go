// SPDX-License-Identifier: Apache-2.0

// Package policy compiles SidecarSets to MutatingAdmissionPolicies, by which an API server
// injects them itself: with no webhook, and with no manager that runs.
//
// Compile is a pure function. What its policy makes of a pod is what injection.Inject makes,
// annotations and order of containers included. Only the time that is written down is that of the
// revision, since a policy knows no present. If a webhook injects as well, it finds everything in
// its place and changes nothing. Kubernetes serves such policies from 1.36.
//
// Compile fails with an error that says what no policy can do: to merge JSON, above all. Such a
// SidecarSet needs a webhook.
//
// Input.FailurePolicy says what becomes of a pod of which a policy can make nothing. With Fail, the
// default, it is refused, as a webhook refuses it. A pod that must not run without its sidecar does
// not, and the message says which annotation to correct. With Ignore it is created without. Nothing
// but an annotation of the pod that podwright did not write, or a pod with thousands of mounts,
// brings a policy there.
//
// The rules are in RULES.md, by the ids that comments cite.
package policy
