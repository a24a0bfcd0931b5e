// SPDX-License-Identifier: Apache-2.0

// Package deletion protects objects from deletion that have the label
// policy.kruise.io/delete-protection: Namespaces, CustomResourceDefinitions, Deployments,
// ReplicaSets, StatefulSets, CloneSets, Advanced StatefulSets, UnitedDeployments, Services and Ingresses.
//
// Decide is the decision, a pure function of the object. Policies are ValidatingAdmissionPolicies that
// make it within the API server, so that it holds while nothing of podwright runs; they need Kubernetes
// 1.30. Only deletions that need a count take the Webhook: of the pods of a Namespace or of the objects of
// a CustomResourceDefinition that are Cascading. It can also stand in for the policies.
//
// A user who deletes a CustomResourceDefinition deletes its objects too, and the API server asks nothing about each of
// them. A CloneSet with the value Always goes with the definition of CloneSets. So give the label to the definitions
// (DP-10):
//
//	kubectl label crd clonesets.apps.kruise.io policy.kruise.io/delete-protection=Cascading
//
// The rules are in RULES.md, by the ids that comments cite.
//
// # Differences
//
// What is protected, and in which words it is refused, is as in OpenKruise 1.4. Otherwise:
//
//   - Policies refuse deletions while no manager runs.
//   - A policy can leave it to a group of users to take the label away. In OpenKruise, users who may
//     change an object may delete it in two steps.
//   - The webhook may list pods and the custom resources that it is told of;
//     OpenKruise's may list everything. A CustomResourceDefinition that is Cascading and whose
//     objects it may not list cannot be deleted until it may, or the label is taken away.
//   - Pods and custom resources are asked for when the answer depends on them, one first. The number
//     in a refusal is exact up to 500.
//   - Services and Ingresses are protected, too, as from OpenKruise 1.6 on.
//   - Custom resources whose stored version is not served are listed in another version.
package deletion
