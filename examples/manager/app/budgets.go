// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	availabilityclient "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/workloads"
)

var podUnavailableBudgetsResource = v1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets")

func podUnavailableBudgets(f *pflag.FlagSet) kind {
	workers := f.Int("podunavailablebudget-workers", 3, "PodUnavailableBudgets reconciled at the same time")
	mirror := podunavailablebudget.MirrorNone
	f.Func("podunavailablebudget-mirror",
		"show PodUnavailableBudgets to autoscalers by PodDisruptionBudgets: Annotated those that ask for it with the annotation "+
			v1alpha1.PodDisruptionBudgetAnnotation+"=true; Remove deletes what that has created, and is to come before none; default none",
		func(value string) error {
			mirror = podunavailablebudget.MirrorPolicy(value)
			return podunavailablebudget.CheckMirrorPolicy(mirror)
		})
	scalable := f.StringSlice("podunavailablebudget-crds", nil,
		"CRDs with a scale subresource whose objects control pods that PodUnavailableBudgets protect, beside the kinds that are known: like rollouts.argoproj.io; the manager may get these objects and their scale")
	return kind{
		name: v1alpha1.PubEventSource, gate: features.PodUnavailableBudgetDeleteGate, orGate: features.PodUnavailableBudgetUpdateGate,
		resource: podUnavailableBudgetsResource,
		compose: func(ctx context.Context, p *parts) (_ controllers.Composed, err error) {
			o := podunavailablebudget.Options{
				Kubernetes: p.Kubernetes, Availability: p.Availability, Namespace: p.namespace, Recorder: p.Recorder, Metrics: reconciles, Workers: *workers,
				BudgetMetrics: budgetMetrics, Mirror: mirror,
				Budgets: p.caches.podUnavailableBudgets(), Pods: p.caches.pods(), Deployments: p.caches.deployments(), ReplicaSets: p.caches.replicaSets(),
				StatefulSets: p.caches.builtInStatefulSets(), ReplicationControllers: p.caches.replicationControllers(),
			}
			if mirror != podunavailablebudget.MirrorNone {
				o.PodDisruptionBudgets = p.caches.podDisruptionBudgets()
			}
			const without = "PodUnavailableBudgets do not know these workloads until the next start, because the CRD is not installed"
			if o.CloneSets, err = p.served(ctx, cloneSetsResource, p.caches.cloneSets, without); err != nil {
				return controllers.Composed{}, err
			}
			if o.AdvancedStatefulSets, err = p.served(ctx, statefulSetsResource, p.caches.statefulSets, without); err != nil {
				return controllers.Composed{}, err
			}
			var others []schema.GroupResource
			for _, name := range *scalable {
				others = append(others, schema.ParseGroupResource(name))
			}
			if o.Scales, err = scales(p.Config, others); err != nil {
				return controllers.Composed{}, err
			}
			return controllers.Of(o, podunavailablebudget.New, func(o podunavailablebudget.Options) []rbacv1.PolicyRule {
				return append(podunavailablebudget.Rules(o), podunavailablebudget.ScaleRules(others...)...)
			}), nil
		},
		webhook: func(a *admissions) webhook {
			return &podunavailablebudget.Webhook{
				Deletions: a.gates.Enabled(features.PodUnavailableBudgetDeleteGate), Updates: a.gates.Enabled(features.PodUnavailableBudgetUpdateGate),
				Guard: a.budgets.guard, Kubernetes: a.Interface, Availability: a.budgets.client, Pods: a.budgets.podLister(),
			}
		},
	}
}

// scales returns what reads workloads of further kinds, nil for none. It looks for these kinds when it is asked about one.
func scales(config *rest.Config, resources []schema.GroupResource) (podunavailablebudget.Scales, error) {
	if len(resources) == 0 {
		return nil, nil
	}
	http, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, http)
	if err != nil {
		return nil, err
	}
	objects, err := metadata.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	found, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(served))
	if err != nil {
		return nil, err
	}
	return podunavailablebudget.NewScales(mapper, found, objects, resources...), nil
}

// budget returns what is asked before an update takes a pod out of service; nil where the gate is off or
// PodUnavailableBudgets are not served.
func (p *parts) budget(ctx context.Context) (workloads.Budget, error) {
	if !p.gates.Enabled(features.PodUnavailableBudgetUpdateGate) {
		return nil, nil
	}
	informer, err := p.served(ctx, podUnavailableBudgetsResource, p.caches.podUnavailableBudgets, "Updates do not ask PodUnavailableBudgets until the next start, because the CRD is not installed")
	if err != nil || informer == nil {
		return nil, err
	}
	return podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: p.Availability, Budgets: availabilityclient.NewPodUnavailableBudgetLister(informer.GetIndexer()), Metrics: budgetMetrics,
	})
}

// budgets are what the webhooks of every replica know of PodUnavailableBudgets and, while there are any, of pods that are
// evicted: a few hundred bytes of each, so that an answer takes one request to the API server at most. What their caches lack,
// they ask for.
type budgets struct {
	client   availabilityclient.Interface
	informer cache.SharedIndexInformer
	pods     cache.SharedIndexInformer // nil where evictions are not judged, and where the manager works in one namespace
	guard    *podunavailablebudget.Guard
}

// newBudgets returns caches that are empty. One of pods takes the right to list those of all namespaces, since webhooks are
// asked about all: who works in one namespace has none, and asks for the pods that are evicted one by one.
func newBudgets(config *rest.Config, core kubernetes.Interface, gates featuregate.FeatureGate, namespace string) (*budgets, error) {
	client, err := availabilityclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	informer := availabilityclient.NewPodUnavailableBudgetInformer(client, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	guard, err := podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: client, Budgets: availabilityclient.NewPodUnavailableBudgetLister(informer.GetIndexer()), Metrics: budgetMetrics,
	})
	if err != nil || namespace != "" || !gates.Enabled(features.PodUnavailableBudgetDeleteGate) {
		return &budgets{client: client, informer: informer, guard: guard}, err
	}
	pods := coreinformers.NewPodInformer(core, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	return &budgets{client, informer, pods, guard}, pods.SetTransform(podunavailablebudget.TrimPod)
}

// podLister reads the cache of pods; nil where there is none.
func (b *budgets) podLister() corelisters.PodLister {
	if b.pods == nil {
		return nil
	}
	return corelisters.NewPodLister(b.pods.GetIndexer())
}

// run fills the caches until the context is done: that of PodUnavailableBudgets as soon as they are served, that of pods, which
// costs most, as soon as there is one.
func (b *budgets) run(ctx context.Context, core kubernetes.Interface) error {
	resources := discovery.ToDiscoveryInterfaceWithContext(core.Discovery())
	if err := crds.Await(ctx, resources, podUnavailableBudgetsResource, lookAgain, nil); err != nil {
		return nil // the manager ends
	}
	var running sync.WaitGroup
	first := sync.OnceFunc(func() {
		if b.pods != nil {
			running.Go(func() { b.pods.RunWithContext(ctx) })
		}
	})
	if _, err := b.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { first() },
		DeleteFunc: func(object any) {
			if key, err := cache.DeletionHandlingObjectToName(object); err == nil {
				budgetMetrics.Gone(key.Namespace, key.Name)
			}
		},
	}); err != nil {
		return err
	}
	running.Go(func() { b.informer.RunWithContext(ctx) })
	running.Wait()
	return nil
}

// budgetCondition keeps pods away from the webhook of budgets that it leaves as they are.
func budgetCondition(gates featuregate.FeatureGate) string {
	if gates.Enabled(features.PodUnavailableBudgetUpdateGate) {
		return podunavailablebudget.MatchExpression
	}
	return fmt.Sprintf("request.operation != 'UPDATE' && (%s)", podunavailablebudget.MatchExpression)
}
