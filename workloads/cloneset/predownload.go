package cloneset

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/predownload"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// ImagePullJobs creates, finds and deletes the jobs that pull images to nodes.
// NewImagePullJobs makes one. Its methods are called by several goroutines.
type ImagePullJobs interface {
	// Owned names the jobs of the namespace that the owner with that UID
	// controls and that are not being deleted. It is called in every pass and
	// reads a cache.
	Owned(namespace string, owner types.UID) ([]string, error)
	// Create creates a job. It returns the API server's error, for which
	// functions such as apierrors.IsAlreadyExists hold.
	Create(ctx context.Context, job *distributionv1alpha1.ImagePullJob) error
	// Delete deletes a job that Owned has named. One that is gone already is
	// no error.
	Delete(ctx context.Context, namespace, name string) error
}

// NewImagePullJobs returns the ImagePullJobs that finds jobs in the cache of an
// informer, which the client package of the distribution kinds makes, and
// writes with the client. It adds an index to the informer, so that must not
// have been started before. The caller runs it, and waits until it is filled
// before a Controller runs: jobs that the cache does not show are not deleted.
func NewImagePullJobs(c distributionclient.Interface, informer cache.SharedIndexInformer) (ImagePullJobs, error) {
	store, err := predownload.NewStore(c, informer)
	if err != nil {
		return nil, fmt.Errorf("cloneset: %w", err)
	}
	return store, nil
}

// PreDownload is what to do about pulling images ahead of an in-place update.
// It is decided once per revision; a label on the revision records the outcome.
// The zero value is nothing. A Reason without a Label is a wait.
type PreDownload struct {
	// Create lists the jobs to create, one per container whose image changes.
	Create []*distributionv1alpha1.ImagePullJob
	// Label is the label to set to "true" on the update revision once all
	// jobs are created; empty for none.
	Label string
	// Delete names the jobs to delete, since the update is over.
	Delete []string
	// Reason says in words why no images are pulled ahead, or not yet.
	Reason string
}

// observeJobs reads which jobs there are, where they matter.
func (r *Reconciler) observeJobs(s *Snapshot) (err error) {
	if r.jobs == nil || !s.Features.PreDownload {
		return nil
	}
	if s.Jobs, err = r.jobs.Owned(s.Set.Namespace, s.Set.UID); err != nil {
		return fmt.Errorf("find the image pull jobs of CloneSet %s/%s: %w", s.Set.Namespace, s.Set.Name, err)
	}
	return nil
}

// planPreDownload decides whether to pull the images of the update revision to
// the nodes of the pods that are still to be updated. (IP-29 to IP-32)
func (p *planner) planPreDownload() {
	if !p.Features.PreDownload {
		return
	}
	strategy := &p.Set.Spec.UpdateStrategy
	in := predownload.Input{
		Workload: p.Set, Kind: v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), Selector: p.Set.Spec.Selector,
		Updating: p.plan.Revisions.Current.Name != p.plan.Revisions.Update.Name,
		From:     []*appsv1.ControllerRevision{p.plan.Revisions.Current}, To: p.plan.Revisions.Update,
		InPlace: strategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType ||
			strategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType,
		Replicas: p.limits.replicas, Partition: p.limits.partition,
		MaxUnavailable: intstr.FromString(v1alpha1.DefaultCloneSetMaxUnavailable),
		Jobs:           p.Jobs,
	}
	if strategy.MaxUnavailable != nil {
		in.MaxUnavailable = *strategy.MaxUnavailable
	}
	if _, waits := p.Set.Annotations[inplacev1alpha1.PreDownloadMinUpdatedReadyPodsAnnotation]; waits && in.Updating {
		in.UpdatedReady = p.updatedReady()
	}
	p.plan.PreDownload = PreDownload(predownload.Decide(&in))
}

// updatedReady counts what status.updatedReadyReplicas will say.
func (p *planner) updatedReady() (n int32) {
	for _, pod := range p.pods {
		if pod.updated && lifecycle.Ready(pod.Pod) {
			n++
		}
	}
	return n
}

// preDownload creates or deletes the jobs, and labels the revision.
func (a *applier) preDownload(ctx context.Context) error {
	if a.jobs == nil {
		return nil
	}
	return a.PreDownload(ctx, a.jobs, a.plan.Revisions.Update, predownload.Decision(a.plan.PreDownload))
}
