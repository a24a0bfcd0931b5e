// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/terminator"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

var sidecarSetsResource = sidecarv1alpha1.SchemeGroupVersion.WithResource("sidecarsets")

var sidecarSetMetrics = metrics.NewSidecarSets(ctrlmetrics.Registry)

func sidecarKinds(f *pflag.FlagSet) []kind {
	return []kind{sidecarSets(f), sidecarSetPolicies(f), sidecarTerminator(f)}
}

func sidecarSets(f *pflag.FlagSet) kind {
	workers := f.Int("sidecarset-workers", 3, "SidecarSets reconciled at the same time")
	return kind{
		name: "sidecarset-controller", resource: sidecarSetsResource,
		compose: func(ctx context.Context, p *parts) (podwright.Kind, error) {
			budget, err := p.budget(ctx)
			o := sidecarset.Options{
				Kubernetes: p.Kubernetes, Sidecar: p.Sidecar, ManagerNamespace: p.ownNamespace, ControllerOptions: p.options(*workers),
				SidecarSets: p.caches.sidecarSets(), Pods: p.caches.pods(), Namespaces: p.caches.namespaces(),
				SetMetrics: sidecarSetMetrics, Policies: p.gates.Enabled(features.SidecarSetPolicies), Budget: budget,
				Injection: switches.Injection(p.gates), Features: switches.SidecarSet(p.gates),
			}
			if p.namespace == "" {
				o.Revisions = p.caches.revisions()
			}
			return sidecarset.Describe(o, nil), err
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return sidecarset.Describe(sidecarset.Options{}, &sidecarset.Webhook{
				Reader: a.sidecars, Injection: switches.Injection(a.gates), PatchPodMetadataAllowed: a.gates.Enabled(features.SidecarSetPatchPodMetadataDefaultsAllowed),
				Containers: &sidecarset.ContainerChecker{Client: a.CoreV1(), Namespace: a.ownNamespace},
			}), nil
		},
	}
}

func (c *caches) sidecarSets() cache.SharedIndexInformer {
	return inCluster(c, &sidecarv1alpha1.SidecarSet{}, c.clients.Sidecar, client.NewSidecarSetInformer)
}

// sidecarSetPolicies have the API server inject by itself. A writer of such policies may change whatever is created. So
// the manager may not write them, unless the gate is opened.
func sidecarSetPolicies(f *pflag.FlagSet) kind {
	failurePolicy := f.String("sidecarset-policy-failure-policy", string(admissionregistrationv1.Fail),
		"what the API server does with new pods that the policy of a SidecarSet cannot change: Fail refuses them, Ignore creates them without sidecars")
	return kind{
		name: "sidecarset-policy-controller", gate: features.SidecarSetPolicies, resource: sidecarSetsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := policies.Options{
				Kubernetes: p.Kubernetes, Sidecar: p.Sidecar, ManagerNamespace: p.ownNamespace, ControllerOptions: p.options(0),
				SidecarSets: p.caches.sidecarSets(), FailurePolicy: admissionregistrationv1.FailurePolicyType(*failurePolicy),
				Webhook: p.webhooks, Injection: switches.Injection(p.gates),
			}
			if p.namespace == "" {
				o.Revisions = p.caches.revisions()
			}
			return policies.Describe(o), nil
		},
	}
}

var terminations = metrics.NewTerminations(ctrlmetrics.Registry)

func sidecarTerminator(f *pflag.FlagSet) kind {
	workers := f.Int("sidecarterminator-workers", 3, "pods reconciled at the same time whose sidecars are to be terminated")
	return kind{
		name: sidecarv1alpha1.SidecarTerminatorEventSource, gate: features.SidecarTerminator, resource: containerRecreateRequestsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return terminator.Describe(terminator.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers), PodMetrics: terminations,
				Pods: p.caches.pods(), Nodes: p.caches.nodes(), Requests: p.caches.containerRecreateRequests(),
			}), nil
		},
	}
}
