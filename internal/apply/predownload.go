// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/predownload"
)

// preDownload creates or deletes the jobs that pull images ahead, and labels
// the update revision, which may be nil if nothing is to be labelled.
func (p *Sync) preDownload(ctx context.Context, jobs predownload.Jobs, update *appsv1.ControllerRevision, d rollout.PreDownload) error {
	applier := predownload.Applier{
		Jobs: onBehalf{jobs, p}, Namespace: p.Key.Namespace, Revisions: p.Kubernetes.AppsV1(), Event: p.Event,
		Wrote: func(labelled metav1.Object) { p.Wrote(caches.Revisions, labelled.GetResourceVersion()) },
	}
	return applier.Apply(ctx, update, d)
}

// onBehalf creates jobs on behalf of the workload of a reconcile.
type onBehalf struct {
	predownload.Jobs
	sync *Sync
}

func (o onBehalf) Create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error {
	return o.sync.creations.Create(o.sync.Workload, func() error { return o.Jobs.Create(ctx, job) })
}
