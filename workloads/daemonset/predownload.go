// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
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
	in := predownload.Input{PodPerNode: true, Replicas: p.desired, Partition: p.limits.partition,
		MaxUnavailable: intstr.FromInt32(p.limits.maxUnavailable), Jobs: p.Jobs,
		SandboxConfig: p.Features.PreDownloadSandboxConfig}
	live := map[string]bool{}
	for _, n := range p.nodes {
		for _, pod := range n.pods {
			if n.runs && !pod.Updated {
				live[revision.ShortHash(pod.Labels[podplan.RevisionLabel])] = true
			}
		}
	}
	for _, r := range p.History {
		if live[revision.ShortHash(r.Name)] {
			in.From = append(in.From, r)
		}
	}
	predownload.Plan(&p.plan.Plan, &p.Workload, p.pods, in)
}
