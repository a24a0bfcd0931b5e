package statefulset

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/predownload"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1beta1"
)

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

// planPreDownload decides whether to pull the images of the update revision to
// the nodes of the pods that are still to be updated. (inplace rules 29 to 32)
func (p *planner) planPreDownload() {
	if !p.Features.PreDownload {
		return
	}
	current, update := p.plan.Revisions.Current, p.plan.Revisions.Update
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
		if pod.updated && lifecycle.Ready(pod.Pod) {
			in.UpdatedReady++
		}
	}
	p.plan.PreDownload = PreDownload(predownload.Decide(&in))
}
