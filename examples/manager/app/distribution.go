// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
)

var (
	imagePullJobsResource       = v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")
	workloadSpreadsResource     = v1alpha1.SchemeGroupVersion.WithResource("workloadspreads")
	persistentPodStatesResource = v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates")
)

var distributions = metrics.NewDistributions(ctrlmetrics.Registry)

func distributionKinds(f *pflag.FlagSet) []kind {
	return []kind{imagePullJobs(f), imageListPullJobs(f), nodeImages(f), resourceDistributions(f), workloadSpreads(f), persistentPodStates(f)}
}

// resourceDistributions copy Secrets and ConfigMaps to any namespace, whatever namespace the manager works in. That takes the
// right to read and write all of them: so the manager does not have it, unless the gate is opened.
func resourceDistributions(f *pflag.FlagSet) kind {
	workers := f.Int("resourcedistribution-workers", 3, "ResourceDistributions reconciled at the same time")
	sources := f.Bool("resourcedistribution-sources", false, "read spec.sourceRef of ResourceDistributions, which webhooks answer for: nothing is read with --enable-webhooks=false")
	return kind{
		name: "resourcedistribution-controller", gate: features.ResourceDistributionGate,
		resource: v1alpha1.SchemeGroupVersion.WithResource("resourcedistributions"),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return resource.Describe(resource.Options{ // informers of copies alone are not worth sharing
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), TargetMetrics: distributions,
				Distributions: p.caches.resourceDistributions(), Namespaces: p.caches.namespaces(),
				Features: resource.Features{Sources: *sources && p.webhooks},
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			if !a.gates.Enabled(features.ResourceDistributionGate) {
				return resource.Describe(resource.Options{}, &resource.Webhook{}), nil
			}
			w := &resource.Webhook{Kubernetes: a.Interface, Namespace: a.ownNamespace}
			if *sources {
				w.Access = a.AuthorizationV1().SubjectAccessReviews()
			}
			return resource.Describe(resource.Options{}, w), nil
		},
	}
}

func (c *caches) resourceDistributions() cache.SharedIndexInformer {
	return inCluster(c, &v1alpha1.ResourceDistribution{}, c.clients.Distribution, client.NewResourceDistributionInformer)
}

var spreads = metrics.NewSpreads(ctrlmetrics.Registry)

func workloadSpreads(f *pflag.FlagSet) kind {
	workers := f.Int("workloadspread-workers", 3, "WorkloadSpreads reconciled at the same time")
	crds := f.StringSlice("workloadspread-crds", nil, "CRDs, like rollouts.argoproj.io, of the kinds in "+v1alpha1.WorkloadSpreadWhitelistKey+" of ConfigMap kruise-configuration, and of what stands between their objects and pods: the manager may list and watch these objects")
	return kind{
		name: v1alpha1.WorkloadSpreadEventSource, gate: features.WorkloadSpread, resource: workloadSpreadsResource,
		beside: these(cloneSetsResource, statefulSetsResource), optional: these(cloneSetsResource, statefulSetsResource),
		without: "WorkloadSpreads do not know these workloads",
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := workloadspread.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), SpreadMetrics: spreads,
				Spreads: p.caches.workloadSpreads(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), Deployments: p.caches.deployments(),
				ReplicaSets: p.caches.replicaSets(), StatefulSets: p.caches.builtInStatefulSets(), Jobs: p.caches.jobs(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}
			described := workloadspread.Describe(o, nil)
			described.Permissions = append(described.Permissions, podwright.Permission{Namespace: p.ownNamespace, Rules: workloadspread.WhitelistRules()},
				podwright.Permission{Namespace: p.namespace, Rules: workloadspread.CustomRules(groupResources(*crds)...)})
			described.New = func(ctx context.Context) (podwright.Runner, error) {
				list, err := workloadspread.AwaitWhitelist(ctx, p.Kubernetes, p.ownNamespace)
				if err != nil {
					return nil, err
				}
				if o.Custom, err = workloadspread.CustomKinds(ctx, p.Kubernetes, list, p.namespace); err != nil {
					return nil, err
				}
				if o.Dynamic, err = dynamic.NewForConfig(p.Config); err != nil {
					return nil, err
				}
				controller, err := workloadspread.New(o) // which makes the informers of o.Custom, and runs them
				if err != nil {
					return nil, err
				}
				placer, err := workloadspread.NewPlacer(o) // which runs nothing of its own
				if err != nil {
					return nil, err
				}
				p.caches.spreads.Set(placer)
				return controller, nil
			}
			return described, nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			w := &workloadspread.Webhook{Distribution: a.clients.Distribution, Workloads: a.clients.Workloads, Templates: a.CoreV1(),
				Whitelist: func(ctx context.Context) (spread.Whitelist, error) {
					return workloadspread.ReadWhitelist(ctx, a.Interface, a.ownNamespace)
				},
				Features: workloadspread.Features{TryPatches: a.gates.Enabled(features.WorkloadSpreadTryPatches)}}
			if a.gates.Enabled(features.PodWebhook) { // without it, pods of Kubernetes' own workloads are not spread
				w.Kubernetes = a.clients.Kubernetes
			}
			return workloadspread.Describe(workloadspread.Options{}, w), nil
		},
	}
}

// groupResources reads the names of CRDs.
func groupResources(names []string) (resources []schema.GroupResource) {
	for _, name := range names {
		resources = append(resources, schema.ParseGroupResource(name))
	}
	return resources
}

func (c *caches) workloadSpreads() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.WorkloadSpread{}, c.clients.Distribution, client.NewWorkloadSpreadInformer)
}

var podStates = metrics.NewPodStates(ctrlmetrics.Registry)

func persistentPodStates(f *pflag.FlagSet) kind {
	workers := f.Int("persistentpodstate-workers", 3, "PersistentPodStates reconciled at the same time")
	crds := f.StringSlice("persistentpodstate-crds", nil, "CRDs of the kinds in "+v1alpha1.PersistentPodStateWhitelistKey+" of ConfigMap kruise-configuration: the manager may list and watch these objects")
	return kind{
		name: v1alpha1.PersistentPodStateEventSource, resource: persistentPodStatesResource,
		beside: these(statefulSetsResource), optional: these(statefulSetsResource), without: "PersistentPodStates do not know these workloads",
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := persistentpodstate.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), StateMetrics: podStates,
				States: p.caches.persistentPodStates(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), StatefulSets: p.caches.builtInStatefulSets(),
				AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}
			described := persistentpodstate.Describe(o, nil)
			described.Permissions = append(described.Permissions, podwright.Permission{Namespace: p.ownNamespace, Rules: persistentpodstate.WhitelistRules()},
				podwright.Permission{Namespace: p.namespace, Rules: workloadspread.CustomRules(groupResources(*crds)...)})
			described.New = func(ctx context.Context) (podwright.Runner, error) {
				placer, err := persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{
					Kubernetes: p.Kubernetes, Distribution: p.Distribution, Namespace: p.namespace, States: o.States, Nodes: o.Nodes,
					RestoreAnnotations: p.gates.Enabled(features.PersistentPodStateRestoreAnnotations)})
				if err != nil {
					return nil, err
				}
				p.caches.states.Set(placer)
				list, err := persistentpodstate.AwaitWhitelist(ctx, p.Kubernetes, p.ownNamespace)
				if err != nil {
					return nil, err
				}
				if o.Custom, err = persistentpodstate.CustomKinds(ctx, p.Kubernetes, list, p.namespace); err != nil {
					return nil, err
				}
				if o.Dynamic, err = dynamic.NewForConfig(p.Config); err != nil {
					return nil, err
				}
				return persistentpodstate.New(o)
			}
			return described, nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return persistentpodstate.Describe(persistentpodstate.Options{}, &persistentpodstate.Webhook{Distribution: a.clients.Distribution, RestoreAnnotations: a.gates.Enabled(features.PersistentPodStateRestoreAnnotations), Whitelist: func(ctx context.Context) (podstate.Whitelist, error) {
				return persistentpodstate.ReadWhitelist(ctx, a.Interface, a.ownNamespace)
			}}), nil
		},
	}
}

func (c *caches) persistentPodStates() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.PersistentPodState{}, c.clients.Distribution, client.NewPersistentPodStateInformer)
}

func imagePullJobs(f *pflag.FlagSet) kind {
	workers := f.Int("imagepulljob-workers", 3, "ImagePullJobs reconciled at the same time")
	referToSource := f.Bool("imagepulljob-refer-to-source-secrets", false,
		"copy no pull secrets of ImagePullJobs to the namespace "+v1alpha1.DaemonConfigNamespace+": agents must be allowed to read them in the namespaces of the jobs")
	reserve := f.Int32("default-ttlseconds-for-always-nodeimage", 300,
		"seconds that a finished pull of an ImagePullJob of the type Always stays on a node, beyond the job's time to live; above 0")
	return kind{
		name: "imagepulljob-controller", gate: features.ImagePullJobGate, resource: imagePullJobsResource,
		optional: these(cloneSetsResource, statefulSetsResource), without: "No images are pulled in the order of these pods", // which the workloads say
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			if *reserve <= 0 {
				return podwright.Kind{}, fmt.Errorf("--default-ttlseconds-for-always-nodeimage=%d: want seconds above 0, such as 300", *reserve)
			}
			return imagepulljob.Describe(imagepulljob.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				ReferToSourceSecrets: *referToSource, TTLReserve: time.Duration(*reserve) * time.Second,
				ImagePullJobs: p.caches.imagePullJobs(), NodeImages: p.caches.nodeImages(), Pods: p.caches.pods(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return imagepulljob.Describe(imagepulljob.Options{}, &imagepulljob.Webhook{NoAgents: !a.gates.Enabled(features.ImagePullJobGate)}), nil
		},
	}
}

func (c *caches) imagePullJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.ImagePullJob{}, c.clients.Distribution, client.NewImagePullJobInformer)
}

func imageListPullJobs(f *pflag.FlagSet) kind {
	workers := f.Int("imagelistpulljob-workers", 3, "ImageListPullJobs reconciled at the same time")
	return kind{
		name: "imagelistpulljob-controller", gate: features.ImagePullJobGate, resource: imageListPullJobsResource,
		beside: these(imagePullJobsResource),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return imagelistpulljob.Describe(imagelistpulljob.Options{
				Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				ImageListPullJobs: p.caches.imageListPullJobs(), ImagePullJobs: p.caches.imagePullJobs(),
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return imagelistpulljob.Describe(imagelistpulljob.Options{}, &imagelistpulljob.Webhook{NoAgents: !a.gates.Enabled(features.ImagePullJobGate)}), nil
		},
	}
}

func (c *caches) imageListPullJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.ImageListPullJob{}, c.clients.Distribution, client.NewImageListPullJobInformer)
}

func nodeImages(f *pflag.FlagSet) kind {
	workers := f.Int("nodeimage-workers", 3, "nodes reconciled with their NodeImages at the same time")
	creationDelay := f.Duration("nodeimage-creation-delay", 30*time.Second, "time that a node must have been ready before it gets its NodeImage")
	pauseImage := f.String("nodeimage-pull-pods-image", "",
		"have kubelets pull images in place of agents: by pods that run this image, such as registry.k8s.io/pause:3.10, and mount the image to pull; empty: agents pull")
	responseTimeout := f.Duration("nodeimage-response-timeout", time.Minute,
		"time that an agent may be silent about an image before the pull has failed; agents of OpenKruise 1.4 are silent while they pull")
	return kind{
		name: "nodeimage-controller", gate: features.KruiseDaemon, resource: v1alpha1.SchemeGroupVersion.WithResource("nodeimages"),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := nodeimage.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				NodeImages: p.caches.nodeImages(), Nodes: p.caches.nodes(),
				Timing: nodeimage.Timing{CreationDelay: *creationDelay, ResponseTimeout: *responseTimeout},
			}
			if *creationDelay == 0 {
				o.Timing.CreationDelay = -1
			}
			if *pauseImage != "" {
				o.PullPods = &nodeimage.PullPods{PauseImage: *pauseImage}
			}
			if p.namespace == "" {
				o.ImagePullJobs, o.Pods = p.caches.imagePullJobs(), p.caches.pods()
			}
			return nodeimage.Describe(o, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return nodeimage.Describe(nodeimage.Options{}, &nodeimage.Webhook{NoAgents: !a.gates.Enabled(features.KruiseDaemon)}), nil
		},
	}
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return inCluster(c, &v1alpha1.NodeImage{}, c.clients.Distribution, client.NewNodeImageInformer)
}
