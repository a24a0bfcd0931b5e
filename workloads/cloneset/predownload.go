// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/predownload"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

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
	p.plan.PreDownload = predownload.Decide(&in)
}

// updatedReady counts what status.updatedReadyReplicas will say.
func (p *planner) updatedReady() (n int32) {
	for _, pod := range p.pods {
		if pod.Updated && lifecycle.Ready(pod.Pod) {
			n++
		}
	}
	return n
}
