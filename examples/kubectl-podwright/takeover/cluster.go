// SPDX-License-Identifier: Apache-2.0

// Package takeover says what becomes of a cluster of OpenKruise if podwright takes it over, before anything is changed. It
// tells what will happen to each object, what a user has to decide, and what OpenKruise holds in a state that never ends.
// [Reader] reads the cluster, and [Check] judges what was read. Neither writes. (KC-26 to KC-29)
package takeover

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/examples/process/features"
)

// Groups are those of the kinds of OpenKruise.
const (
	apps   = "apps.kruise.io"
	policy = "policy.kruise.io"
)

// Cluster is what was read of one. What could not be read is empty, and named in Unread.
type Cluster struct {
	// Now is when it was read.
	Now time.Time
	// Namespace is that of OpenKruise's programs and of their Lease.
	Namespace string
	// Gates are those that podwright's manager will have.
	Gates *features.Gates
	// Definitions are the CustomResourceDefinitions of OpenKruise's groups.
	Definitions []*unstructured.Unstructured
	// Webhooks are the configurations of admission webhooks that lead to a Service in Namespace.
	Webhooks []*unstructured.Unstructured
	// Programs are the workloads of Kubernetes in Namespace that run managers and agents.
	Programs []*unstructured.Unstructured
	// Leases and Locks are the Leases in Namespace and the ConfigMaps that OpenKruise of old locked.
	Leases, Locks []*unstructured.Unstructured
	// Namespaces are the names of all that exist.
	Namespaces map[string]bool
	// Objects are those of OpenKruise's kinds, in the version that the API server prefers, by kind.
	Objects map[string][]*unstructured.Unstructured
	// Children are Jobs that a kind of OpenKruise controls.
	Children []*unstructured.Unstructured
	// Pods are those that have something of OpenKruise: an owner, a label, an annotation or a finalizer. If there are requests to restart
	// containers, mirrors of static pods are too.
	Pods []*unstructured.Unstructured
	// Copies are the metadata of Secrets that jobs for images have copied. Their data is never read.
	Copies []*metav1.PartialObjectMetadata
	// Plans say of workloads what podwright's first reconcile does.
	Plans []Planned
	// Unread says what could not be read, or was more than the limit, in 100 sentences at most. One more counts the rest.
	Unread []string
}

// Planned is a workload with what podwright's next reconcile does to it.
type Planned struct {
	Of *unstructured.Unstructured
	// NewRevision is the name of the revision that is created; empty if none is.
	NewRevision string
	// Rows are what becomes of its pods.
	Rows []plan.Row
}
