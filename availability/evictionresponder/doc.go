// SPDX-License-Identifier: Apache-2.0

// Package evictionresponder speaks for the workload of a pod when Kubernetes is asked to evict it
// declaratively, by an EvictionRequest (lifecycle.k8s.io/v1alpha1). The workload makes room first.
// The pod goes when its replacement is available and its budgets allow it. The requester can read
// in the Eviction what is waited for.
//
// Kubernetes 1.37 has this API behind the feature gate EvictionRequestAPI, and no controller yet that makes
// Evictions of EvictionRequests: the administrator has to run one. [Served] tells whether there is the API. A pod is
// registered when it is created, with the name and the priority of a responder that speaks for a
// workload:
//
//	spec:
//	  evictionResponders:
//	  - {name: podwright.io/workload, priority: 10000}
//
// In the template of a CloneSet this reaches the pods if the program that runs the CloneSet is built with
// k8s.io/api v0.37 or newer. Older versions do not know the field, and drop it.
//
// A [Controller] watches Evictions. Every reconcile of one has three steps. Observe reads it, its pod and the CloneSet
// of the pod from caches into a [Snapshot]. [NewPlan], a pure function, decides. Apply sends what the plan says. The
// pod of a CloneSet with a maxSurge is noted as one that is to go (LC-29), so that the CloneSet creates another. It is
// evicted once that is available; other pods are evicted at once. Evicted means asked for by the imperative API, so
// that a PodUnavailableBudget or a PodDisruptionBudget answers. A wait for room ends after Options.RoomTimeout; one for
// a budget, or for a pod to end, has heartbeats that say so. Without an Eviction a denied eviction does the same, see
// package podunavailablebudget.
//
// What is done stands rule by rule in
// https://github.com/podwright/podwright/blob/main/availability/evictionresponder/RULES.md
package evictionresponder
