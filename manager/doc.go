// SPDX-License-Identifier: Apache-2.0

// Package manager makes one program of several kinds. It links those kinds alone that the caller hands over:
//
//	set, err := manager.New(manager.Options{Name: "shop-manager", Namespace: "shop-system", Kubernetes: kube},
//		cloneset.Describe(cloneset.Options{Kubernetes: kube, Workloads: clients}, &cloneset.Webhook{}),
//		daemonset.Describe(daemonset.Options{Kubernetes: kube, Workloads: clients}, &daemonset.Webhook{}))
//
// Describe of each kind's package says what the kind takes, of the options of New. A [Set] has all of it, as Go values, and [YAML]
// writes it down:
//
//   - the controllers, which [Set.RunControllers] runs in the replica that leads, each as soon as the API server serves its kind
//   - the handlers of webhooks, for the HTTPS server of the program, in every replica
//   - the two webhook configurations, with the matchConditions of the objects that there are now. [Set.RunWebhooks] registers
//     them, and again after each change: of such an object, of the certificate authority, or by another writer
//   - the CRDs of the given kinds alone
//   - the RBAC rules, merged, in a ServiceAccount, roles and bindings
//   - admission policies
//
// The HTTPS server with its certificate, and leader election, are the caller's. So are the clients and informers that kinds share: their
// options name them.
//
// # Several kinds in the webhook of pods
//
// What kinds do to new pods stands in one webhook: podwebhook.Describe joins these parts. SidecarSets come with theirs, which reads the
// caches that their own webhook reads:
//
//	sidecarSets, injector, err := sidecarset.DescribeInjecting(sidecarset.Options{Kubernetes: kube, Sidecar: clients}, sidecarset.AdmissionOptions{})
//	...
//	manager.New(options, sidecarSets, podwebhook.Describe(podwebhook.Parts{Sidecars: injector, OwnNamespace: "shop-system"}))
//
// # What is registered
//
// The configurations have the names of OpenKruise: so a cluster moves over without a moment without webhooks. If one of that name
// stands there, made by another program, its list of webhooks goes into its annotation "template", and is rebuilt from
// there. What it has for paths that this program does not serve is left out. No other configuration is touched.
package manager
