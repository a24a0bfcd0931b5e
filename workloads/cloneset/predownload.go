// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/predownload"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// observeJobs reads which jobs there are, if they matter.
func (r *reconciler) observeJobs(s *Snapshot) (err error) {
	s.Jobs, err = predownload.JobsOf(r.options.Jobs, s.Features.PreDownload, s.Set, kind)
	return err
}

// planPreDownload decides whether to pull images ahead. (IP-29 to IP-32)
func (p *planner) planPreDownload() {
	if !p.Features.PreDownload || p.plan.Revisions.Refused != nil {
		return
	}
	limit := intstr.FromString(v1alpha1.DefaultCloneSetMaxUnavailable)
	if given := p.Set.Spec.UpdateStrategy.MaxUnavailable; given != nil {
		limit = *given
	}
	predownload.Plan(&p.plan.Plan, &p.Workload, p.pods, predownload.Input{
		From:     []*appsv1.ControllerRevision{p.plan.Revisions.Current},
		Replicas: p.limits.replicas, Partition: p.limits.partition, MaxUnavailable: limit, Jobs: p.Jobs,
		SandboxConfig: p.Features.PreDownloadSandboxConfig,
	})
}
