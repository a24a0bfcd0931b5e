// SPDX-License-Identifier: Apache-2.0

// Package podwright is the tour of a library of Kubernetes controllers. They do what
// OpenKruise 1.4 does, and on demand what 1.5 to 1.9 do. API groups, annotations,
// labels, conditions and revision data are the same. You import them into a controller
// manager or a node agent of your own, or import the arithmetic alone.
//
// The package itself holds what all controllers share: [ControllerOptions], and what a
// [Controller] and a [Reconciler] do.
// The sections below answer the questions of a reader in their order.
//
// # How do I run a controller?
//
// Every kind has a package with the same words. New takes client-go clients, and [ControllerOptions] that you
// make once for all kinds. It returns a [Controller], whose Run ends with the context.
// [github.com/podwright/podwright/workloads/cloneset]
// shows it in an Example. What stands around a controller:
//
//   - CRDs: workloads.CRDs() and its like of every area, or the files in the folders
//     crds. If no webhook sets defaults, install workloads.CRDsWithDefaults():
//     autoscalers and Argo CD read fields that users leave out.
//   - RBAC: Rules(Options) of the package returns the rules that these options need,
//     and no more.
//   - Webhooks: Webhook of the package sets defaults and validates, and
//     workloads.Webhooks() is what the API server has to be told of it. Without a
//     webhook the rules in the CRD still hold, and pods are still created.
//   - Several kinds: Describe of each package says all this of its kind, and
//     [github.com/podwright/podwright/manager] makes one program of them, and its manifests.
//   - Leader election is yours: run the controller while you lead. The module
//     examples/kit has one, with the rest of a process: certificates, metrics, probes.
//   - Shared caches: give two controllers the same informers, trimmed by
//     workloads.Trim. [github.com/podwright/podwright/workloads/client] has
//     typed clients, informers and listers.
//   - Another framework: NewReconciler reads its caches through a [Reader], which is the
//     same for all kinds, and offers Reconcile. Or the options return its informers. The
//     module examples/controllerruntime/adapter adds any kinds to a manager of controller-runtime.
//   - Older clients: [github.com/podwright/podwright/workloads/conversion] serves
//     StatefulSets as v1alpha1 without loss. ServeV1beta1, there and in
//     [github.com/podwright/podwright/sidecar/conversion] and
//     [github.com/podwright/podwright/distribution/conversion], adds the v1beta1 of
//     OpenKruise 1.9 to kinds that are stored as v1alpha1.
//
// # Which package is for what I want to run?
//
// Pods:
//
//   - [github.com/podwright/podwright/workloads/cloneset]: interchangeable pods
//     that are updated in place if the change allows it.
//   - [github.com/podwright/podwright/workloads/statefulset]: pods with names,
//     claims and an order of their own.
//   - [github.com/podwright/podwright/workloads/daemonset]: a pod on every node.
//   - [github.com/podwright/podwright/workloads/uniteddeployment]: one workload in
//     each of several groups of nodes.
//   - [github.com/podwright/podwright/workloads/broadcastjob]: one pod runs to its
//     end on every node that fits it.
//   - [github.com/podwright/podwright/workloads/cronjob]: a Job, a BroadcastJob or a
//     pull of images at the times of a schedule.
//
// What stands beside the containers of a pod:
//
//   - [github.com/podwright/podwright/sidecar/sidecarset] injects containers into
//     new pods, and updates them in place later.
//     [github.com/podwright/podwright/sidecar/policies] has the API server inject
//     by itself, while no manager runs.
//   - [github.com/podwright/podwright/sidecar/terminator] ends the sidecars of Jobs
//     when the main containers have finished.
//   - [github.com/podwright/podwright/lifecycle/launchpriority] starts the
//     containers of a pod in order.
//   - [github.com/podwright/podwright/lifecycle/recreate] restarts containers on request.
//   - [github.com/podwright/podwright/lifecycle/ephemeraljob] injects ephemeral
//     containers into many pods, and tells how they ended.
//   - [github.com/podwright/podwright/lifecycle/probe] probes containers, and writes
//     the results to their pods.
//   - [github.com/podwright/podwright/lifecycle/podwebhook] is the one webhook for
//     all pods, with a step for each of the kinds that need it.
//   - [github.com/podwright/podwright/lifecycle/podreadiness] opens the readiness gate
//     KruisePodReady of pods that other controllers create.
//
// How many pods may be away:
//
//   - [github.com/podwright/podwright/availability/podunavailablebudget] keeps
//     PodUnavailableBudgets.
//   - [github.com/podwright/podwright/availability/evictionresponder] has workloads
//     make room for pods that are evicted declaratively.
//   - [github.com/podwright/podwright/availability/deletion] protects objects with
//     a label from deletion.
//
// What goes to which node or namespace:
//
//   - [github.com/podwright/podwright/distribution/workloadspread] spreads the pods
//     of a workload over zones and pools of nodes.
//   - [github.com/podwright/podwright/distribution/persistentpodstate] sends the
//     pods of StatefulSets back to the nodes on which they ran.
//   - [github.com/podwright/podwright/distribution/image] has images pulled to
//     nodes before a pod needs them.
//   - [github.com/podwright/podwright/distribution/resource] copies a Secret or a
//     ConfigMap to many namespaces.
//
// # What runs on the nodes?
//
// [github.com/podwright/podwright/nodeagent] is the node's half, on CRI: one process on
// every node. CloneSets, StatefulSets, DaemonSets and SidecarSets do without it. What needs it:
// ContainerRecreateRequests, images that agents pull, probes, and environments that follow
// metadata. [github.com/podwright/podwright/nodeagent/policies] holds each
// agent to its own node.
//
// # How do I ask what would happen?
//
// Every decision is a pure function: no client, no clock, no randomness.
//
//   - [github.com/podwright/podwright/inplace]: does a change of the template
//     restart containers, or does it recreate the pod?
//   - NewPlan of every kind: what happens next, and why does the rest wait? Reconciler.Snapshot
//     returns what the plan of a live object depends on.
//   - RolloutStatus of workloads, SidecarSets and jobs: is it done, or what does it wait for, or why does waiting not help? The
//     object alone says it.
//   - [github.com/podwright/podwright/inplace/rollout]: which pods are updated next?
//     By partition, maxUnavailable, maxSurge, priority, deletion cost, topology and scatter.
//   - [github.com/podwright/podwright/inplace/revision]: which revision does a template mean?
//   - [github.com/podwright/podwright/inplace/podpatch]: which requests does a
//     change of a pod take?
//   - [github.com/podwright/podwright/lifecycle]: what may happen to a pod that has
//     a lifecycle hook? [github.com/podwright/podwright/lifecycle/readiness] has
//     the readiness gates behind the hooks.
//   - [github.com/podwright/podwright/sidecar/injection]: what do SidecarSets inject into a pod?
//   - [github.com/podwright/podwright/availability/budget]: may this pod go now?
//   - [github.com/podwright/podwright/distribution/spread]: which subset of a WorkloadSpread does a pod go to?
//   - [github.com/podwright/podwright/distribution/podstate]: where does a pod return to?
//
// # How do I test my program?
//
// [github.com/podwright/podwright/workloads/fakecluster] is an API server with kubelets in
// memory. The folder examples/tests/cluster starts a real control plane, with simulated nodes or real ones.
//
// # Which versions does it need?
//
// Controllers need Go 1.26, and k8s.io/* v0.36 or newer. Since v0.36 the stores of client-go
// say up to which resourceVersion they have read. So a controller knows that its cache has
// what it wrote. The feature AtomicFIFO of client-go must be on: it is by default.
// API types and arithmetic also work with v0.34 and v0.35. Go takes one version of a module for a whole
// program, and go get raises yours to v0.36. To stay below, import no controller, and write into your go.mod:
//
//	replace (
//		k8s.io/api => k8s.io/api v0.34.0
//		k8s.io/apimachinery => k8s.io/apimachinery v0.34.0
//		k8s.io/client-go => k8s.io/client-go v0.34.0
//	)
//
// The tests run with v0.36 and v0.37, on a control plane of Kubernetes 1.37. The examples are built on v0.37.
// API servers from 1.25 on have what the CRDs use, but no test runs against them. Some
// features need newer ones; their packages say which.
//
// # Where do I see it?
//
// The module in the folder examples has demos, a manager, a node agent and a kubectl
// plugin. Its README is the map.
package podwright
