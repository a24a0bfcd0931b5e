// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

func sidecarSets(f *pflag.FlagSet) kind {
	workers := f.Int("sidecarset-workers", 3, "SidecarSets reconciled at the same time")
	return kind{
		name: "sidecarset-controller", resource: sidecarSetsResource,
		compose: func(ctx context.Context, p *parts) (controllers.Composed, error) {
			budget, err := p.budget(ctx)
			o := sidecarset.Options{
				Kubernetes: p.Kubernetes, Sidecar: p.Sidecar, Namespace: p.ownNamespace, Recorder: p.Recorder, Metrics: reconciles,
				PodNamespace: p.namespace, SidecarSets: p.caches.sidecarSets(), Pods: p.caches.pods(), Namespaces: p.caches.namespaces(),
				SetMetrics: sidecarSetMetrics, Workers: *workers, Policies: p.gates.Enabled(features.SidecarSetPolicies), Budget: budget,
			}
			if p.namespace == "" {
				o.Revisions = p.caches.revisions()
			}
			return controllers.OfNamespace(o, sidecarset.New, sidecarset.Rules, sidecarset.NamespaceRules), err
		},
		webhook: func(a *admissions) webhook { return sidecarSetWebhook(a) },
	}
}

// sidecars are what the webhooks of every replica know of SidecarSets. Where their CRD is not installed there are none.
type sidecars struct {
	*sidecarset.AdmissionCaches
	injector sidecarset.Injector
	core     kubernetes.Interface
	// known is closed once somebody has looked whether SidecarSets are served.
	known  chan struct{}
	served atomic.Bool
	// besidePolicies says that policies inject as well.
	besidePolicies bool
}

func newSidecars(config *rest.Config, core kubernetes.Interface, ownNamespace string) (*sidecars, error) {
	client, err := sidecarclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	caches, err := sidecarset.NewAdmissionCaches(sidecarset.AdmissionOptions{Kubernetes: core, Sidecar: client, Namespace: ownNamespace})
	if err != nil {
		return nil, err
	}
	return &sidecars{
		AdmissionCaches: caches, injector: sidecarset.Injector{Reader: caches, Metrics: injections}, core: core, known: make(chan struct{}),
	}, nil
}

// run fills the caches as soon as SidecarSets are served, until the context is done. What is injected into has changed
// when changed is called.
func (s *sidecars) run(ctx context.Context, changed func()) error {
	resources := discovery.ToDiscoveryInterfaceWithContext(s.core.Discovery())
	for {
		served, err := crds.Served(ctx, resources, sidecarSetsResource)
		if err == nil {
			s.served.Store(served)
			close(s.known)
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
	if err := crds.Await(ctx, resources, sidecarSetsResource, lookAgain, nil); err != nil {
		return nil // the manager ends
	}
	s.served.Store(true)
	sets, _, _ := s.Informers()
	if _, err := sets.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { changed() }, DeleteFunc: func(any) { changed() },
		UpdateFunc: func(before, after any) {
			b, ok1 := before.(*v1alpha1.SidecarSet)
			a, ok2 := after.(*v1alpha1.SidecarSet)
			if ok1 && ok2 && b.Generation != a.Generation {
				changed()
			}
		},
	}); err != nil {
		return err
	}
	if err := s.AdmissionCaches.Run(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// there tells whether there can be SidecarSets, once that is known.
func (s *sidecars) there(ctx context.Context) (bool, error) {
	select {
	case <-s.known:
		return s.served.Load(), nil
	case <-ctx.Done():
		return false, errors.New("it is not known yet whether the API server serves SidecarSets; try again")
	}
}

// inject is a step of the webhook of pods.
func (s *sidecars) inject(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	if there, err := s.there(ctx); !there || err != nil {
		return err
	}
	return s.injector.Mutate(ctx, request, pod)
}

// expression is true of the pods that something may be injected into.
func (s *sidecars) expression(ctx context.Context) (string, error) {
	if there, err := s.there(ctx); !there || err != nil {
		return "false", err
	}
	sets, err := s.SidecarSets(ctx)
	if s.besidePolicies {
		return policies.MatchExpression(sets), err
	}
	return sidecarset.MatchExpression(sets), err
}

// sidecarSetWebhook judges SidecarSets.
func sidecarSetWebhook(a *admissions) *sidecarset.Webhook {
	return &sidecarset.Webhook{
		Reader: a.sidecars, PatchPodMetadataAllowed: a.gates.Enabled(features.SidecarSetPatchPodMetadataDefaultsAllowed),
		Containers: &sidecarset.ContainerChecker{Client: a.CoreV1(), Namespace: a.ownNamespace},
	}
}
