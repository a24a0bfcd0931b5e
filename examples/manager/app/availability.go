// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	availabilityclient "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/workloads"
)

var podUnavailableBudgetsResource = v1alpha1.SchemeGroupVersion.WithResource("podunavailablebudgets")

var budgetMetrics = metrics.NewBudgets(ctrlmetrics.Registry)

func availabilityKinds(f *pflag.FlagSet) []kind {
	return []kind{podUnavailableBudgets(f), evictionResponder(f), deletionProtection(f)}
}

func podUnavailableBudgets(f *pflag.FlagSet) kind {
	workers := f.Int("podunavailablebudget-workers", 3, "PodUnavailableBudgets reconciled at the same time")
	mirror := podunavailablebudget.MirrorNone
	f.Func("podunavailablebudget-mirror",
		"show PodUnavailableBudgets to autoscalers by PodDisruptionBudgets: Annotated shows those with the annotation "+
			v1alpha1.PodDisruptionBudgetAnnotation+"=true; Remove deletes what that has created, once before none; default none",
		func(value string) error {
			mirror = podunavailablebudget.MirrorPolicy(value)
			return podunavailablebudget.CheckMirrorPolicy(mirror)
		})
	scalable := f.StringSlice("podunavailablebudget-crds", nil,
		"CRDs, like rollouts.argoproj.io, whose objects control pods and have a scale subresource, beside the kinds that the manager knows: it may get these objects and their scale")
	return kind{
		name: v1alpha1.PubEventSource, gate: features.PodUnavailableBudgetDeleteGate, orGate: features.PodUnavailableBudgetUpdateGate,
		resource: podUnavailableBudgetsResource,
		optional: these(cloneSetsResource, statefulSetsResource), without: "PodUnavailableBudgets do not know these workloads",
		compose: func(_ context.Context, p *parts) (_ podwright.Kind, err error) {
			o := podunavailablebudget.Options{
				Kubernetes: p.Kubernetes, Availability: p.Availability, ControllerOptions: p.options(*workers),
				BudgetMetrics: budgetMetrics, Mirror: mirror, Features: switches.PodUnavailableBudget(p.gates),
				Budgets: p.caches.podUnavailableBudgets(), Pods: p.caches.pods(), Deployments: p.caches.deployments(), ReplicaSets: p.caches.replicaSets(),
				StatefulSets: p.caches.builtInStatefulSets(), ReplicationControllers: p.caches.replicationControllers(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}
			if mirror != podunavailablebudget.MirrorNone {
				o.PodDisruptionBudgets = p.caches.podDisruptionBudgets()
			}
			others := groupResources(*scalable)
			if o.Scales, err = scales(p.Config, others); err != nil {
				return podwright.Kind{}, err
			}
			described := podunavailablebudget.Describe(o, nil)
			described.Permissions = append(described.Permissions, podwright.Permission{Namespace: p.namespace, Rules: podunavailablebudget.ScaleRules(others...)})
			return described, nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return podunavailablebudget.Describe(podunavailablebudget.Options{}, a.budgets), nil
		},
	}
}

func (c *caches) podUnavailableBudgets() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.PodUnavailableBudget{}, c.clients.Availability, availabilityclient.NewPodUnavailableBudgetInformer)
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
	return podunavailablebudget.NewScalesForConfig(config, mapper, resources...)
}

// budget returns what is asked before an update takes a pod out of service; nil if the gate is off or
// PodUnavailableBudgets are not served.
func (p *parts) budget(ctx context.Context) (workloads.Budget, error) {
	if !p.gates.Enabled(features.PodUnavailableBudgetUpdateGate) {
		return nil, nil
	}
	served, err := p.serves(ctx, podUnavailableBudgetsResource, "Updates do not ask PodUnavailableBudgets")
	if err != nil || !served {
		return nil, err
	}
	return podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: p.Availability, Budgets: availabilityclient.NewPodUnavailableBudgetLister(p.caches.podUnavailableBudgets().GetIndexer()), Metrics: budgetMetrics,
		Features: switches.PodUnavailableBudget(p.gates),
	})
}

var evictionsResource = evictionresponder.SchemeGroupVersion.WithResource("evictions")

// evictionResponder has the workloads of pods make room when they are evicted declaratively, which few API servers
// serve yet.
func evictionResponder(f *pflag.FlagSet) kind {
	timeout := f.Duration("eviction-responder-room-timeout", evictionresponder.DefaultRoomTimeout,
		"how long a pod that is evicted declaratively waits for its CloneSet to create another one first")
	return kind{
		name: "eviction-responder", gate: features.EvictionResponder, resource: evictionsResource,
		optional: these(cloneSetsResource), without: "Pods of CloneSets that are evicted declaratively wait for no room",
		compose: func(_ context.Context, p *parts) (_ podwright.Kind, err error) {
			o := evictionresponder.Options{
				Kubernetes: p.Kubernetes, ControllerOptions: p.options(0), Pods: p.caches.pods(), RoomTimeout: *timeout,
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets),
			}
			if o.EvictionClient, err = evictionresponder.NewClient(p.Config, nil); err != nil {
				return podwright.Kind{}, err
			}
			return evictionresponder.Describe(o), nil
		},
	}
}

// deletionProtection is a webhook, which answers even if its gate is closed. What --print-policies prints refuses most of the
// same deletions without it.
func deletionProtection(f *pflag.FlagSet) kind {
	more := f.StringSlice("deletion-protection-crds", nil,
		"further CRDs, like carts.shop.io or *.shop.io, that can be deleted while they have the label policy.kruise.io/delete-protection=Cascading: the manager may list their objects")
	return kind{webhook: func(a *admissions) (podwright.Kind, error) {
		var listed []schema.GroupResource
		for _, definition := range a.definitions {
			listed = append(listed, schema.ParseGroupResource(definition.GetName()))
		}
		for _, name := range *more {
			listed = append(listed, schema.ParseGroupResource(name))
		}
		w := &deletion.Webhook{
			Disabled: !a.gates.Enabled(features.ResourcesDeletionProtection), List: deletion.Metadata(a.metadata), Resources: listed,
			NoDefinitions: !a.gates.Enabled(features.DeletionProtectionForCRDCascadingGate),
		}
		if a.gates.Enabled(features.DeletionProtectionBoundClaims) {
			w.Claims = deletion.ClaimsBy(a)
		}
		return deletion.Describe(w, deletion.PolicyOptions{})
	}}
}
