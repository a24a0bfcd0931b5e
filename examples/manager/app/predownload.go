package app

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/workloads"
)

// imagePullJobs returns what pulls images ahead of an in-place update. It
// returns nil where the gate is off or ImagePullJobs are not served: that must
// not keep workloads from working. Its cache must be filled before a controller
// runs that has it.
func (m *Manager) imagePullJobs(ctx context.Context, p parts) (workloads.ImagePullJobs, error) {
	if !m.gates.Enabled(features.PreDownloadImageForInPlaceUpdate) {
		return nil, nil
	}
	found, err := p.served(imagePullJobsResource)
	if err != nil {
		return nil, err
	}
	if !found {
		klog.FromContext(ctx).Info("No images are pulled ahead of updates until the next start, because the CRD is not installed",
			"crd", imagePullJobsResource.GroupResource(), "gate", features.PreDownloadImageForInPlaceUpdate)
		return nil, nil
	}
	return workloads.NewImagePullJobs(p.distribution, p.caches.imagePullJobs())
}
