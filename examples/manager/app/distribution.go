// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"time"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/metrics"
)

var (
	imagePullJobsResource       = v1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")
	workloadSpreadsResource     = v1alpha1.SchemeGroupVersion.WithResource("workloadspreads")
	persistentPodStatesResource = v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates")
)

var distributions = metrics.NewDistributions(ctrlmetrics.Registry)

// resourceDistributions copy Secrets and ConfigMaps to any namespace, whatever namespace the manager works in. That takes the
// right to read and write all of them: so the manager does not have it, unless the gate is opened.
func resourceDistributions(f *pflag.FlagSet) kind {
	workers := f.Int("resourcedistribution-workers", 3, "ResourceDistributions reconciled at the same time")
	sources := f.Bool("resourcedistribution-sources", false, "read spec.sourceRef of ResourceDistributions, which webhooks answer for: nothing is read with --enable-webhooks=false")
	return kind{
		name: "resourcedistribution-controller", gate: features.ResourceDistributionGate, inCluster: true,
		resource: v1alpha1.SchemeGroupVersion.WithResource("resourcedistributions"),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(resource.Options{ // informers of copies alone are not worth sharing
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), TargetMetrics: distributions,
				Distributions: p.caches.resourceDistributions(), Namespaces: p.caches.namespaces(),
				Sources: *sources && p.webhooks,
			}, resource.New, resource.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			if !a.gates.Enabled(features.ResourceDistributionGate) {
				return &resource.Webhook{}
			}
			w := &resource.Webhook{Kubernetes: a.Interface, Namespace: a.ownNamespace}
			if *sources {
				w.Access = a.AuthorizationV1().SubjectAccessReviews()
			}
			return w
		},
	}
}

func (c *caches) resourceDistributions() cache.SharedIndexInformer {
	return inCluster(c, &v1alpha1.ResourceDistribution{}, c.clients.Distribution, client.NewResourceDistributionInformer)
}

var spreads = metrics.NewSpreads(ctrlmetrics.Registry)

func workloadSpreads(f *pflag.FlagSet) kind {
	workers := f.Int("workloadspread-workers", 3, "WorkloadSpreads reconciled at the same time")
	return kind{
		name: v1alpha1.WorkloadSpreadEventSource, gate: features.WorkloadSpread, resource: workloadSpreadsResource,
		beside: these(cloneSetsResource, statefulSetsResource), optional: these(cloneSetsResource, statefulSetsResource),
		without: "WorkloadSpreads do not know these workloads",
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			start := func(o workloadspread.Options) (workloadspread.Controller, error) {
				placer, err := workloadspread.NewPlacer(o) // which runs nothing of its own
				if err != nil {
					return nil, err
				}
				p.caches.spreads.Set(placer)
				return workloadspread.New(o)
			}
			return controllers.Of(workloadspread.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), SpreadMetrics: spreads,
				Spreads: p.caches.workloadSpreads(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), Deployments: p.caches.deployments(),
				ReplicaSets: p.caches.replicaSets(), StatefulSets: p.caches.builtInStatefulSets(), Jobs: p.caches.jobs(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}, start, workloadspread.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			w := &workloadspread.Webhook{Distribution: a.clients.Distribution, Workloads: a.clients.Workloads}
			if a.gates.Enabled(features.PodWebhook) { // without it, pods of Kubernetes' own workloads are not spread
				w.Kubernetes = a.clients.Kubernetes
			}
			return w
		},
	}
}

func (c *caches) workloadSpreads() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.WorkloadSpread{}, c.clients.Distribution, client.NewWorkloadSpreadInformer)
}

var podStates = metrics.NewPodStates(ctrlmetrics.Registry)

func persistentPodStates(f *pflag.FlagSet) kind {
	workers := f.Int("persistentpodstate-workers", 3, "PersistentPodStates reconciled at the same time")
	return kind{
		name: v1alpha1.PersistentPodStateEventSource, resource: persistentPodStatesResource,
		beside: these(statefulSetsResource), optional: these(statefulSetsResource), without: "PersistentPodStates do not know these workloads",
		compose: func(ctx context.Context, p *parts) (controllers.Composed, error) {
			start := func(o persistentpodstate.Options) (persistentpodstate.Controller, error) {
				placer, err := persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{
					Kubernetes: p.Kubernetes, Distribution: p.Distribution, Namespace: p.namespace, States: o.States, Nodes: o.Nodes})
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
			return controllers.OfNamespace(persistentpodstate.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers), StateMetrics: podStates,
				States: p.caches.persistentPodStates(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), StatefulSets: p.caches.builtInStatefulSets(),
				AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}, start, persistentpodstate.Rules, func(persistentpodstate.Options) (string, []rbacv1.PolicyRule) {
				return p.ownNamespace, persistentpodstate.WhitelistRules()
			}), nil
		},
		webhook: func(a *admissions) webhook {
			return &persistentpodstate.Webhook{Distribution: a.clients.Distribution, Whitelist: func(ctx context.Context) (podstate.Whitelist, error) {
				return persistentpodstate.ReadWhitelist(ctx, a.Interface, a.ownNamespace)
			}}
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
	return kind{
		name: "imagepulljob-controller", gate: features.KruiseDaemon, resource: imagePullJobsResource,
		optional: these(cloneSetsResource, statefulSetsResource), without: "No images are pulled in the order of these pods", // which the workloads say
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.OfNamespace(imagepulljob.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				ReferToSourceSecrets: *referToSource,
				ImagePullJobs:        p.caches.imagePullJobs(), NodeImages: p.caches.nodeImages(), Pods: p.caches.pods(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}, imagepulljob.New, imagepulljob.Rules, imagepulljob.NamespaceRules), nil
		},
		webhook: func(a *admissions) webhook {
			return &imagepulljob.Webhook{NoAgents: !a.gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func (c *caches) imagePullJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.ImagePullJob{}, c.clients.Distribution, client.NewImagePullJobInformer)
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
		inCluster: true, // nodes hold tasks of jobs of all namespaces
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
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
			return controllers.Of(o, nodeimage.New, nodeimage.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			return &nodeimage.Webhook{NoAgents: !a.gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return inCluster(c, &v1alpha1.NodeImage{}, c.clients.Distribution, client.NewNodeImageInformer)
}
