// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/permissions"
)

var persistentPodStatesResource = v1alpha1.SchemeGroupVersion.WithResource("persistentpodstates")

func persistentPodStates(f *pflag.FlagSet) kind {
	workers := f.Int("persistentpodstate-workers", 3, "PersistentPodStates reconciled at the same time")
	return kind{
		name: v1alpha1.PersistentPodStateEventSource, resource: persistentPodStatesResource,
		compose: func(ctx context.Context, p *parts) (_ controllers.Composed, err error) {
			o := persistentpodstate.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, Namespace: p.namespace, Recorder: p.Recorder, Metrics: reconciles, StateMetrics: podStates, Workers: *workers,
				States: p.caches.persistentPodStates(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), StatefulSets: p.caches.builtInStatefulSets(),
			}
			if err := p.awaitBeside(ctx, statefulSetsResource); err != nil {
				return controllers.Composed{}, err
			}
			const without = "PersistentPodStates do not know these workloads until the next start, because the CRD is not installed"
			if o.AdvancedStatefulSets, err = p.served(ctx, statefulSetsResource, p.caches.statefulSets, without); err != nil {
				return controllers.Composed{}, err
			}
			start := func(o persistentpodstate.Options) (_ *persistentpodstate.Controller, err error) {
				placer, err := persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{
					Kubernetes: p.Kubernetes, Distribution: p.Distribution, Namespace: p.namespace, States: o.States, Nodes: o.Nodes})
				if err != nil {
					return nil, err
				}
				p.caches.placements.states.set(placer)
				if o.Custom, err = p.customKinds(ctx); err != nil {
					return nil, err
				}
				if o.Dynamic, err = dynamic.NewForConfig(p.Config); err != nil {
					return nil, err
				}
				return persistentpodstate.New(o)
			}
			return controllers.OfNamespace(o, start, persistentpodstate.Rules, func(persistentpodstate.Options) (string, []rbacv1.PolicyRule) {
				return p.ownNamespace, whiteListRules()
			}), nil
		},
		webhook: func(a *admissions) webhook {
			return &persistentpodstate.Webhook{Distribution: a.places.client, WhiteList: func(ctx context.Context) (podstate.WhiteList, error) {
				return persistentpodstate.ReadWhiteList(ctx, a.Interface, a.ownNamespace)
			}}
		},
	}
}

// whiteListRules are for the own namespace.
func whiteListRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{permissions.Rule("get", "", "configmaps", persistentpodstate.WhiteListConfigMap)}
}

// whiteList reads the white list. It waits for an API server that does not answer, and goes without one that is none, which
// the log says.
func whiteList(ctx context.Context, client kubernetes.Interface, namespace string) (podstate.WhiteList, error) {
	for {
		list, err := persistentpodstate.ReadWhiteList(ctx, client, namespace)
		if err == nil {
			return list, nil
		}
		klog.FromContext(ctx).Error(err, "The kinds of the white list are not known")
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &syntax) || errors.As(err, &wrong) {
			return nil, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// customKinds returns the kinds of the white list that the API server serves, and that the manager may read.
func (p *parts) customKinds(ctx context.Context) (kinds []persistentpodstate.CustomKind, err error) {
	list, err := whiteList(ctx, p.Kubernetes, p.ownNamespace)
	if err != nil {
		return nil, err
	}
	resources := discovery.ToDiscoveryInterfaceWithContext(p.Kubernetes.Discovery())
	for _, kind := range list {
		if (podstate.WhiteList{}).Allows(kind.GroupKind()) {
			continue // it is known anyway
		}
		served, err := resources.ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersion().String())
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		i := -1
		if err == nil {
			i = slices.IndexFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind && r.Namespaced })
		}
		if i < 0 {
			klog.FromContext(ctx).Info("PersistentPodStates do not know a kind of the white list until the next start, because it is not served", "kind", kind)
			continue
		}
		custom := persistentpodstate.CustomKind{Kind: kind, Resource: served.APIResources[i].Name}
		may, err := p.mayRead(ctx, custom)
		if err != nil {
			return nil, err
		}
		if !may {
			klog.FromContext(ctx).Info("PersistentPodStates do not know a kind of the white list until the next start, because the manager may not list and watch it", "kind", kind)
			continue
		}
		kinds = append(kinds, custom)
	}
	return kinds, nil
}

// mayRead asks the API server whether a kind may be listed and watched: without that a cache of it is never filled, for
// which the controller would wait.
func (p *parts) mayRead(ctx context.Context, kind persistentpodstate.CustomKind) (bool, error) {
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: p.namespace, Verb: verb, Group: kind.Kind.Group, Version: kind.Kind.Version, Resource: kind.Resource}}}
		answer, err := p.Kubernetes.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil || !answer.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}
