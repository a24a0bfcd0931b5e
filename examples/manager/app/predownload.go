package app

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/workloads/cloneset"
)

var imagePullJobsResource = distributionv1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")

// imagePullJobs returns what pulls images ahead of an in-place update, and a
// function that ends its cache. It returns nil jobs where the gate is off or
// ImagePullJobs are not served: that must not keep workloads from working.
func (m *Manager) imagePullJobs(ctx context.Context, served discovery.ServerResourcesInterfaceWithContext, config *rest.Config, agent string) (cloneset.ImagePullJobs, func(), error) {
	none := func() {}
	if !m.gates.Enabled(features.PreDownloadImageForInPlaceUpdate) {
		return nil, none, nil
	}
	found, err := crds.Served(ctx, served, imagePullJobsResource)
	if err != nil {
		return nil, none, err
	}
	if !found {
		klog.FromContext(ctx).Info("No images are pulled ahead of updates until the next start, because the CRD is not installed",
			"crd", imagePullJobsResource.GroupResource(), "gate", features.PreDownloadImageForInPlaceUpdate)
		return nil, none, nil
	}
	jobs, err := client.NewForConfig(withAgent(config, agent))
	if err != nil {
		return nil, none, err
	}
	informer := client.NewImagePullJobInformer(jobs, m.config.Namespace, 0, cache.Indexers{})
	store, err := cloneset.NewImagePullJobs(jobs, informer)
	if err != nil {
		return nil, none, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	stop := func() {
		cancel()
		<-ended
	}
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		stop()
		return nil, none, fmt.Errorf("reading image pull jobs: %w", context.Cause(ctx))
	}
	return store, stop, nil
}
