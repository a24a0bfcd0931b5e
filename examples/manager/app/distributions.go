// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/distribution/resource"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
)

// resourceDistributions copy Secrets and ConfigMaps to any namespace, whatever namespace the manager works in. That takes the
// right to read and write all of them: so nobody has it, unless the gate is opened.
func resourceDistributions(f *pflag.FlagSet) kind {
	workers := f.Int("resourcedistribution-workers", 3, "ResourceDistributions reconciled at the same time")
	sources := f.Bool("resourcedistribution-sources", false, "read spec.sourceRef of ResourceDistributions, which webhooks answer for: nothing is read with --enable-webhooks=false")
	return kind{
		name: "resourcedistribution-controller", gate: features.ResourceDistributionGate, inCluster: true,
		resource: distributionv1alpha1.SchemeGroupVersion.WithResource("resourcedistributions"),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(resource.Options{ // informers of copies alone are not worth sharing
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, Recorder: p.Recorder, Metrics: reconciles, TargetMetrics: distributions,
				Distributions: p.caches.resourceDistributions(), Namespaces: p.caches.namespaces(), Workers: *workers,
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
