// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
)

// The events about a workload.
const (
	reasonCreated      = "CreatedImagePullJob"
	reasonFailedCreate = "FailedCreateImagePullJob"
)

// Applier applies decisions about one workload.
type Applier struct {
	Jobs Jobs
	// Namespace is the workload's.
	Namespace string
	Revisions appsv1client.ControllerRevisionsGetter
	// Event reports an event about the workload; kind is Normal or Warning.
	Event func(kind, reason, format string, args ...any)
	// Wrote is called with the revision that was labelled.
	Wrote func(metav1.Object)
}

// Apply does what was decided about the workload and its revision. The
// revision may be nil if nothing is to be labelled. A decision for nothing
// costs no request. All errors are collected; after one, the revision
// stays without its label, so that the next reconcile decides again.
func (a *Applier) Apply(ctx context.Context, to *appsv1.ControllerRevision, d rollout.PreDownload) error {
	var errs []error
	for _, job := range d.Create {
		errs = append(errs, a.create(ctx, job))
	}
	for _, name := range d.Delete {
		if err := a.Jobs.Delete(ctx, a.Namespace, name); err != nil {
			errs = append(errs, fmt.Errorf("delete ImagePullJob %s: %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil || d.Label == "" {
		return err
	}
	return a.label(ctx, to, d.Label)
}

// create creates a job. Only an error that another attempt may mend is
// returned: an update must not be held up by pods that pull for themselves.
// Both events are Normal.
func (a *Applier) create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error {
	err := a.Jobs.Create(ctx, job)
	switch {
	case err == nil:
		a.Event(corev1.EventTypeNormal, reasonCreated, "created ImagePullJob %s for image %s", job.Name, job.Spec.Image)
		return nil
	case apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err // there an event is not read, and cannot be created either
	}
	a.Event(corev1.EventTypeNormal, reasonFailedCreate, "create ImagePullJob %s for image %s: %v", job.Name, job.Spec.Image, err)
	if apiwriter.Final(err) {
		return nil
	}
	return fmt.Errorf("create ImagePullJob %s: %w", job.Name, err)
}

// label sets the label by a merge patch of the revision. The UID is not known
// of a revision that was created in the same reconcile.
func (a *Applier) label(ctx context.Context, to *appsv1.ControllerRevision, key string) error {
	metadata := map[string]any{"labels": map[string]string{key: "true"}}
	if to.UID != "" {
		metadata["uid"] = to.UID
	}
	data, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("label ControllerRevision %s: %w", to.Name, err)
	}
	labelled, err := a.Revisions.ControllerRevisions(a.Namespace).
		Patch(ctx, to.Name, types.MergePatchType, data, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("label ControllerRevision %s with %s: %w", to.Name, key, err)
	}
	a.Wrote(labelled)
	return nil
}
