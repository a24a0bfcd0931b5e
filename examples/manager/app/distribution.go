// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/features"
)

func distributionKinds() []kind { return []kind{imagePullJobs(), nodeImages()} }

var (
	imagePullJobsResource = v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")
	nodeImagesResource    = v1alpha1.SchemeGroupVersion.WithResource("nodeimages")
)

func imagePullJobs() kind {
	var options imagepulljob.Options
	return kind{
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&options.Workers, "imagepulljob-workers", 3, "ImagePullJobs reconciled at the same time")
		},
		controller: "imagepulljob-controller",
		gate:       features.KruiseDaemon,
		resource:   imagePullJobsResource,
		compose: func(ctx context.Context, p *parts) (made, error) {
			o := options
			o.Distribution, o.Kubernetes, o.Namespace, o.Metrics = p.distribution, p.kubernetes, p.namespace, reconciles
			o.ImagePullJobs, o.NodeImages, o.Pods = p.caches.imagePullJobs(), p.caches.nodeImages(), p.caches.pods()
			// The workloads say in which order to pull: without them nodes come in the order of their pods. Where their
			// CRDs are installed later it is so until the next start.
			cloneSets, err := p.served(ctx, cloneSetsResource)
			if err != nil {
				return made{}, err
			}
			statefulSets, err := p.served(ctx, statefulSetsResource)
			if err != nil {
				return made{}, err
			}
			if cloneSets {
				o.CloneSets = p.caches.cloneSets()
			}
			if statefulSets {
				o.StatefulSets = p.caches.statefulSets()
			}
			if !cloneSets || !statefulSets {
				klog.FromContext(ctx).Info("Images are pulled in no particular order for pods whose CRD is not installed, until the next start",
					"cloneSets", cloneSets, "statefulSets", statefulSets)
			}
			return of(o, imagepulljob.New, imagepulljob.Rules), nil
		},
		webhook: func(_ kubernetes.Interface, gates featuregate.FeatureGate) webhook {
			return &imagepulljob.Webhook{NoAgents: !gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func nodeImages() kind {
	var options nodeimage.Options
	return kind{
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&options.Workers, "nodeimage-workers", 3, "nodes reconciled with their NodeImages at the same time")
			f.DurationVar(&options.Timing.CreationDelay, "nodeimage-creation-delay", 30*time.Second, "time that a node must have been ready before it gets its NodeImage")
			f.DurationVar(&options.Timing.ResponseTimeout, "nodeimage-response-timeout", time.Minute,
				"time that an agent may be silent about an image to pull before that has failed; agents of OpenKruise 1.4 are silent while they pull")
		},
		controller: "nodeimage-controller",
		gate:       features.KruiseDaemon,
		resource:   nodeImagesResource,
		inCluster:  true, // nodes hold tasks of jobs of all namespaces
		compose: func(_ context.Context, p *parts) (made, error) {
			o := options
			o.Distribution, o.Kubernetes, o.Recorder, o.Metrics = p.distribution, p.kubernetes, p.recorder, reconciles
			o.NodeImages, o.Nodes = p.caches.nodeImages(), p.caches.nodes()
			if o.Timing.CreationDelay == 0 {
				o.Timing.CreationDelay = -1
			}
			if p.namespace == "" {
				o.ImagePullJobs = p.caches.imagePullJobs()
			}
			return of(o, nodeimage.New, nodeimage.Rules), nil
		},
		webhook: func(_ kubernetes.Interface, gates featuregate.FeatureGate) webhook {
			return &nodeimage.Webhook{NoAgents: !gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func (c *caches) imagePullJobs() cache.SharedIndexInformer {
	return c.InformerFor(&v1alpha1.ImagePullJob{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return client.NewImagePullJobInformer(c.distribution, c.namespace, 0, cache.Indexers{})
	})
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return c.InformerFor(&v1alpha1.NodeImage{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return client.NewNodeImageInformer(c.distribution, 0, cache.Indexers{})
	})
}
