// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/predownload"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// observeJobs reads which jobs there are, where they matter.
func (r *Reconciler) observeJobs(s *Snapshot) (err error) {
	if r.jobs == nil || !s.Features.PreDownload {
		return nil
	}
	if s.Jobs, err = r.jobs.Owned(s.Set.Namespace, s.Set.UID); err != nil {
		return fmt.Errorf("find the image pull jobs of StatefulSet %s/%s: %w", s.Set.Namespace, s.Set.Name, err)
	}
	return nil
}

// planPreDownload decides whether to pull the images of the update revision to
// the nodes of the pods that are still to be updated. (IP-29 to IP-32)
func (p *planner) planPreDownload() {
	if !p.Features.PreDownload {
		return
	}
	current, update := p.settledCurrent(), p.plan.Revisions.Update
	in := predownload.Input{
		Workload: p.Set, Kind: v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), Selector: p.Set.Spec.Selector,
		Updating: current.Name != update.Name,
		From:     []*appsv1.ControllerRevision{current}, To: update,
		Replicas: p.limits.replicas, Partition: p.limits.partition,
		MaxUnavailable: intstr.FromInt32(1),
		Jobs:           p.Jobs,
	}
	if p.rolling != nil {
		in.InPlace = p.rolling.PodUpdatePolicy == v1beta1.InPlaceIfPossiblePodUpdateStrategyType ||
			p.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType
		if p.rolling.MaxUnavailable != nil {
			in.MaxUnavailable = *p.rolling.MaxUnavailable
		}
	}
	for _, pod := range p.pods {
		if pod.Updated && lifecycle.Ready(pod.Pod) {
			in.UpdatedReady++
		}
	}
	p.plan.PreDownload = predownload.Decide(&in)
}
