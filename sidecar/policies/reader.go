// SPDX-License-Identifier: Apache-2.0

package policies

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. If there is
// no such object, they return an error for which apierrors.IsNotFound holds. New makes
// one over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// SidecarSet returns a SidecarSet.
	SidecarSet(name string) (*v1alpha1.SidecarSet, error)
	// SidecarSetRevisions returns the revisions of a namespace whose label
	// v1alpha1.SidecarSetNameLabel names the SidecarSet, in any order.
	SidecarSetRevisions(namespace, set string) ([]*appsv1.ControllerRevision, error)
	// Policy returns a policy.
	Policy(name string) (*admissionregistrationv1.MutatingAdmissionPolicy, error)
	// Binding returns the binding of a policy.
	Binding(name string) (*admissionregistrationv1.MutatingAdmissionPolicyBinding, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) SidecarSet(name string) (*v1alpha1.SidecarSet, error) {
	return caches.Get[*v1alpha1.SidecarSet](r.Reader, resourceSidecarSets, "", name)
}

func (r informerReader) SidecarSetRevisions(namespace, set string) ([]*appsv1.ControllerRevision, error) {
	return caches.Labelled[*appsv1.ControllerRevision](r.Reader[caches.Revisions], namespace, v1alpha1.SidecarSetNameLabel, set)
}

func (r informerReader) Policy(name string) (*admissionregistrationv1.MutatingAdmissionPolicy, error) {
	return caches.Get[*admissionregistrationv1.MutatingAdmissionPolicy](r.Reader, resourcePolicies, "", name)
}

func (r informerReader) Binding(name string) (*admissionregistrationv1.MutatingAdmissionPolicyBinding, error) {
	return caches.Get[*admissionregistrationv1.MutatingAdmissionPolicyBinding](r.Reader, resourceBindings, "", name)
}
