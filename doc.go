// SPDX-License-Identifier: Apache-2.0

// Package podwright is a library of Kubernetes workload controllers. It does
// what OpenKruise 1.4 does, on the same API groups, with the same annotations,
// labels, conditions and revision data; but there is nothing to install: a
// platform team imports it into a controller manager or a node agent of its own,
// or imports the arithmetic alone.
//
// This package holds what the options and readers of all controllers share, and
// otherwise no code. The map:
//
// # To run a controller
//
//   - [github.com/podwright/podwright/workloads/cloneset] manages CloneSets:
//     stateless pods that are updated in place where the change allows it.
//     cloneset.New takes client-go clients and returns a controller to run;
//     cloneset.NewReconciler puts the same reconciles into another framework;
//     cloneset.Webhook defaults and validates.
//   - [github.com/podwright/podwright/workloads/statefulset] manages StatefulSets
//     (apps.kruise.io): pods with names, claims and an order of their own, with
//     the same words: New, NewReconciler, Webhook, NewPlan.
//   - [github.com/podwright/podwright/workloads/conversion] serves StatefulSets
//     in their older version without loss, and other kinds in v1beta1, as do
//     [github.com/podwright/podwright/sidecar/conversion] and
//     [github.com/podwright/podwright/distribution/conversion].
//   - [github.com/podwright/podwright/sidecar/sidecarset] manages SidecarSets: it
//     injects containers into new pods and updates their images in place.
//     [github.com/podwright/podwright/sidecar/policies] has the API server inject
//     by itself, while no manager runs.
//   - [github.com/podwright/podwright/workloads/daemonset] manages DaemonSets: it runs a pod
//     on every node, and updates the pods node by node.
//   - [github.com/podwright/podwright/workloads/broadcastjob] manages BroadcastJobs:
//     one pod runs to its end on every node that fits it.
//   - [github.com/podwright/podwright/workloads/cronjob] manages AdvancedCronJobs:
//     it creates a Job or a BroadcastJob at the times of a schedule.
//   - [github.com/podwright/podwright/workloads/uniteddeployment] manages
//     UnitedDeployments: one workload in each of several groups of nodes.
//   - [github.com/podwright/podwright/distribution/image] has images pulled to
//     nodes before a pod needs them there, and
//     [github.com/podwright/podwright/distribution/workloadspread] spreads the pods of
//     a workload over zones and pools of nodes.
//   - [github.com/podwright/podwright/distribution/resource] copies a Secret or a
//     ConfigMap to many namespaces, and keeps the copies as they are.
//   - [github.com/podwright/podwright/lifecycle/launchpriority] starts the
//     containers of a pod in order, and
//     [github.com/podwright/podwright/lifecycle/recreate] restarts some of them on
//     request.
//   - [github.com/podwright/podwright/lifecycle/ephemeraljob] injects ephemeral
//     containers into pods, to debug many at once, and tells how they ended.
//   - [github.com/podwright/podwright/nodeagent] is the node's half, on CRI: one
//     process per node that runs features with the same words. Below it,
//     containermeta reports which containers really run, and restarts those whose
//     environment comes from labels and annotations that have changed; recreate
//     stops the containers that requests name; image pulls images; probe runs the
//     probes of PodProbeMarkers, whose results
//     [github.com/podwright/podwright/lifecycle/probe/nodepodprobe] writes to pods.
//   - [github.com/podwright/podwright/sidecar/terminator] ends the sidecars of Jobs
//     once the main containers have finished.
//   - [github.com/podwright/podwright/availability/podunavailablebudget] keeps
//     PodUnavailableBudgets: how many pods may be taken down at once, and
//     [github.com/podwright/podwright/availability/evictionresponder] has workloads
//     make room for pods that are evicted declaratively.
//   - [github.com/podwright/podwright/distribution/persistentpodstate] has the pods
//     of StatefulSets come back to the nodes where they ran.
//   - [github.com/podwright/podwright/workloads/client] has typed clients,
//     informers and listers; package workloads has the CRDs as Go values.
//
// # To ask what would happen
//
// Every decision is a pure function: no client, no clock, no randomness.
//
//   - [github.com/podwright/podwright/inplace] answers whether a template change
//     restarts containers or recreates the pod, and leads one pod through an
//     in-place update.
//   - [github.com/podwright/podwright/inplace/rollout] answers which pods are updated
//     next and why the others wait: partition, maxUnavailable, maxSurge,
//     priority, deletion cost, topology, scatter.
//   - [github.com/podwright/podwright/inplace/revision] makes and compares
//     revisions of a pod template; [github.com/podwright/podwright/inplace/podpatch]
//     turns changes to a pod into the fewest requests.
//   - [github.com/podwright/podwright/sidecar/injection] answers what SidecarSets
//     inject into a pod that is created, and why others do not;
//     [github.com/podwright/podwright/distribution/spread] which subset of a
//     WorkloadSpread it goes to.
//   - [github.com/podwright/podwright/lifecycle] has the hooks that let a
//     controller of yours take part before a pod is deleted or updated, and
//     [github.com/podwright/podwright/lifecycle/readiness] the readiness gates
//     behind them.
//   - cloneset.NewPlan and statefulset.NewPlan make a whole plan for a workload
//     from a snapshot of it, and cronjob.NewPlan says which job is due.
//
// # To look at it
//
// The module in examples has a demo on a real API server, a manager and a node
// agent to copy, a controller-runtime integration, and the tests against a real
// control plane.
package podwright

import "time"

// Metrics receives what the controllers of podwright measure of themselves: every
// Options has a field of this type. Implementations must be safe for use by
// several goroutines. One for Prometheus stands in examples/process/metrics.
type Metrics interface {
	// Reconciled is called after every reconcile with the name of the controller,
	// its duration, and its error, if any.
	Reconciled(controller string, took time.Duration, err error)
}

// WaitMetrics may be implemented by Metrics beside them.
type WaitMetrics interface {
	// Waited is called with the name of the controller where a reconcile has done
	// nothing yet, since the caches have not seen what it wrote before.
	Waited(controller string)
}

// Resource names a cache that a controller reads, such as cloneset.ResourcePods.
type Resource string

// Caches is what the Reader of every controller that waits until its caches show what
// it wrote tells of these caches.
type Caches interface {
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set. (The controllers of a node have no such option:
	// they do not wait for such a cache.) The caches must hold all objects of their
	// namespaces: one that was created and does not appear is an error.
	SyncedResourceVersion(Resource) string
}
