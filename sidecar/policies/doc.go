// SPDX-License-Identifier: Apache-2.0

// Package policies manages the MutatingAdmissionPolicies by which an API server injects
// what SidecarSets have for pods, with no webhook, also while no manager runs.
//
// Each SidecarSet that injects has one policy and one binding, which package
// sidecar/injection/policy compiles from the revision that it injects now. New makes a controller
// that creates, updates and deletes them. It puts back what users change.
//
// It takes Kubernetes 1.36, which serves such policies, and the controller of package
// sidecar/sidecarset or OpenKruise's, which creates the revisions. It does nothing, and says so, if
// no policies are served.
//
// A SidecarSet of which no policy can be made has none, and an event and the condition FailedPolicy say why: it needs the
// webhook. Webhook and policies may be served side by side: the webhook leaves what is
// injected already.
//
// The rules are in RULES.md, by the ids that comments cite.
package policies
