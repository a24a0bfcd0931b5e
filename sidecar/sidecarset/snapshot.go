// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// DefaultRevisionNamespace is the namespace of revisions if no option names another one:
// that of OpenKruise's manager.
const DefaultRevisionNamespace = "kruise-system"

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Set is the SidecarSet. Required.
	Set *v1alpha1.SidecarSet
	// Pods are those that its selector matches, whatever their namespace and phase, in any
	// order. Others beside them do no harm.
	Pods []*corev1.Pod
	// Namespaces are the namespaces of the pods, by name. If one is missing its
	// labels are not known: with a namespaceSelector its pods are left alone.
	Namespaces map[string]*corev1.Namespace
	// NamespaceMissing says that there is no namespace of the name spec.namespace.
	NamespaceMissing bool
	// Revisions are those that the SidecarSet controls, in any order. Others beside them
	// do no harm.
	Revisions []*appsv1.ControllerRevision
	// RevisionNamespace is the namespace of its revisions. Default: DefaultRevisionNamespace.
	RevisionNamespace string
	// Policies says that policies of the API server inject, too.
	Policies bool
	// Injection is Options.Injection.
	Injection injection.Features
	// Features switches behaviour.
	Features Features
	// Gone says of SidecarSets that have said something of the pods whether they are gone. It matters with Features.UpgradableCondition.
	Gone map[string]bool
	// Refused are the updates in place that the API server has refused.
	Refused rollout.Refusals
	// HeldSince is when what holds the SidecarSet up began, as far as a controller remembers. (SCS-27)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan. Required.
	Now time.Time
}
