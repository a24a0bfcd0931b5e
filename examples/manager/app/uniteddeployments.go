// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var subsets = metrics.NewSubsets(ctrlmetrics.Registry)

func unitedDeployments(f *pflag.FlagSet) kind {
	workers := f.Int("uniteddeployment-workers", 3, "UnitedDeployments reconciled at the same time")
	settings := switches.NewSettings()
	settings.AddUnitedDeployments(f)
	return kind{
		name: "uniteddeployment-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("uniteddeployments"),
		beside: these(cloneSetsResource, statefulSetsResource), optional: these(cloneSetsResource, statefulSetsResource),
		without: "UnitedDeployments of this kind create nothing",
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := uniteddeployment.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers), SubsetMetrics: subsets,
				UnitedDeployments: p.caches.unitedDeployments(), StatefulSets: p.caches.builtInStatefulSets(), Deployments: p.caches.deployments(),
				Revisions: p.caches.revisions(), Pods: p.caches.pods(),
				Features:  settings.UnitedDeployment(p.gates),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), AdvancedStatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}
			if o.CloneSets == nil {
				o.Without = append(o.Without, uniteddeployment.CloneSet)
			}
			if o.AdvancedStatefulSets == nil {
				o.Without = append(o.Without, uniteddeployment.AdvancedStatefulSet)
			}
			return uniteddeployment.Describe(o, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return uniteddeployment.Describe(uniteddeployment.Options{}, &uniteddeployment.Webhook{
				TemplateNoDefaults:        a.gates.Enabled(features.TemplateNoDefaults),
				AdaptiveScheduling:        settings.UnitedDeployment(a.gates).AdaptiveScheduling,
				DisableDeletionProtection: !a.gates.Enabled(features.ResourcesDeletionProtection),
				Templates:                 workloads.DryRun(a.CoreV1()),
			}), nil
		},
	}
}

func (c *caches) unitedDeployments() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.UnitedDeployment{}, c.clients.Workloads, client.NewUnitedDeploymentInformer)
}
