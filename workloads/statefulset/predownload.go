// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/predownload"
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
	limit := intstr.FromInt32(1)
	if p.rolling != nil && p.rolling.MaxUnavailable != nil {
		limit = *p.rolling.MaxUnavailable
	}
	predownload.Plan(&p.plan.Plan, &p.Workload, p.pods, predownload.Input{
		From:     []*appsv1.ControllerRevision{p.settledCurrent()},
		Replicas: p.limits.replicas, Partition: p.limits.partition, MaxUnavailable: limit, Jobs: p.Jobs,
		SandboxConfig: p.Features.PreDownloadSandboxConfig,
	})
}
