// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
)

// spreading is the controller, and what places the pods of CloneSets and StatefulSets.
type spreading struct {
	placer     *workloadspread.Placer
	controller *workloadspread.Controller
}

func (s *spreading) Run(ctx context.Context) error {
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return s.placer.Run(ctx) })
	running.Go(func() error { return s.controller.Run(ctx) })
	return running.Wait()
}

var workloadSpreadsResource = v1alpha1.SchemeGroupVersion.WithResource("workloadspreads")

func workloadSpreads(f *pflag.FlagSet) kind {
	workers := f.Int("workloadspread-workers", 3, "WorkloadSpreads reconciled at the same time")
	return kind{
		name: v1alpha1.WorkloadSpreadEventSource, gate: features.WorkloadSpread, resource: workloadSpreadsResource,
		compose: func(ctx context.Context, p *parts) (_ controllers.Composed, err error) {
			o := workloadspread.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, Namespace: p.namespace, Recorder: p.Recorder, Metrics: reconciles, SpreadMetrics: spreads, Workers: *workers,
				Spreads: p.caches.workloadSpreads(), Pods: p.caches.pods(), Nodes: p.caches.nodes(), Deployments: p.caches.deployments(),
				ReplicaSets: p.caches.replicaSets(), StatefulSets: p.caches.builtInStatefulSets(), Jobs: p.caches.jobs(),
			}
			const without = "WorkloadSpreads do not know these workloads until the next start, because the CRD is not installed"
			if err := errors.Join(p.awaitBeside(ctx, cloneSetsResource), p.awaitBeside(ctx, statefulSetsResource)); err != nil {
				return controllers.Composed{}, err
			}
			if o.CloneSets, err = p.served(ctx, cloneSetsResource, p.caches.cloneSets, without); err != nil {
				return controllers.Composed{}, err
			}
			if o.AdvancedStatefulSets, err = p.served(ctx, statefulSetsResource, p.caches.statefulSets, without); err != nil {
				return controllers.Composed{}, err
			}
			start := func(o workloadspread.Options) (*spreading, error) {
				placer, err := workloadspread.NewPlacer(o)
				if err != nil {
					return nil, err
				}
				p.caches.placements.spreads.set(placer)
				controller, err := workloadspread.New(o)
				return &spreading{placer, controller}, err
			}
			return controllers.Of(o, start, workloadspread.Rules), nil
		},
		webhook: func(a *admissions) webhook { return &workloadspread.Webhook{Distribution: a.places.client} },
	}
}
