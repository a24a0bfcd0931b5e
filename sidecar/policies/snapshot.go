// SPDX-License-Identifier: Apache-2.0

package policies

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// SidecarSet is the SidecarSet. Required.
	SidecarSet *v1alpha1.SidecarSet
	// Revisions are its revisions, in any order. Others beside them do no harm.
	Revisions []*appsv1.ControllerRevision
	// Policy and Binding are those of the name that policy.Name gives, whatever made them;
	// nil if there is none.
	Policy  *admissionregistrationv1.MutatingAdmissionPolicy
	Binding *admissionregistrationv1.MutatingAdmissionPolicyBinding
	// FailurePolicy is that of policies. Empty: Fail.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Injection is Options.Injection.
	Injection injection.Features
	// Webhook says that a webhook injects beside them.
	Webhook bool
}
