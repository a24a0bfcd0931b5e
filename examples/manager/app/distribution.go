// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
)

var (
	workloadSpreadsResource     = v1alpha1.SchemeGroupVersion.WithResource("workloadspreads")
	persistentPodStatesResource = v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates")
)

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
				list, err := persistentpodstate.AwaitWhiteList(ctx, p.Kubernetes, p.ownNamespace)
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
				return p.ownNamespace, persistentpodstate.WhiteListRules()
			}), nil
		},
		webhook: func(a *admissions) webhook {
			return &persistentpodstate.Webhook{Distribution: a.clients.Distribution, WhiteList: func(ctx context.Context) (podstate.WhiteList, error) {
				return persistentpodstate.ReadWhiteList(ctx, a.Interface, a.ownNamespace)
			}}
		},
	}
}
