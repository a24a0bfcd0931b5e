// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// AdmissionReader reads what a Webhook and an Injector need to know beside the object that
// is admitted. What it returns is not changed. Its methods are called by several
// goroutines, and return an error if the answer is not known: the request is refused
// then. NewAdmissionCaches makes one over informers.
type AdmissionReader interface {
	// SidecarSets returns all SidecarSets, in any order.
	SidecarSets(ctx context.Context) ([]*v1alpha1.SidecarSet, error)
	// SidecarSetsFor returns the SidecarSets that match pods of a namespace with these
	// labels, in any order. Others among them do no harm, but take time.
	SidecarSetsFor(ctx context.Context, namespace string, labels map[string]string) ([]*v1alpha1.SidecarSet, error)
	// Namespace returns a namespace, nil if there is none of that name.
	Namespace(ctx context.Context, name string) (*corev1.Namespace, error)
	// Revisions returns the revisions of the SidecarSet of a name, in any order.
	Revisions(ctx context.Context, set string) ([]*appsv1.ControllerRevision, error)
	// Configuration returns the ConfigMap whitelistConfigMap of the manager's namespace,
	// nil if there is none.
	Configuration(ctx context.Context) (*corev1.ConfigMap, error)
}
