// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The kinds of workloads that run a pod on every node.

var sets = metrics.NewDaemonSets(ctrlmetrics.Registry)

func daemonSets(f *pflag.FlagSet) kind {
	workers := f.Int("daemonset-workers", 3, "DaemonSets reconciled at the same time")
	settings := switches.NewSettings()
	settings.AddDaemonSets(f)
	return kind{
		name: "daemonset-controller", resource: daemonSetsResource,
		compose: func(ctx context.Context, p *parts) (podwright.Kind, error) {
			jobs, err := p.imagePullJobs(ctx, features.PreDownloadImageForDaemonSetUpdate)
			budget, err2 := p.budget(ctx)
			on := settings.DaemonSet(p.gates)
			on.PreDownload = jobs != nil
			return daemonset.Describe(daemonset.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				DaemonSets: p.caches.daemonSets(), Pods: p.caches.pods(), Revisions: p.caches.revisions(), Nodes: p.caches.nodes(),
				SetMetrics: sets, Jobs: jobs, Budget: budget, Features: on,
			}, nil), errors.Join(err, err2)
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return daemonset.Describe(daemonset.Options{}, &daemonset.Webhook{FixedSelector: a.gates.Enabled(features.DaemonSetFixedSelector), Templates: workloads.DryRun(a.CoreV1())}), nil
		},
	}
}

func (c *caches) daemonSets() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.DaemonSet{}, c.clients.Workloads, client.NewDaemonSetInformer)
}

var jobs = metrics.NewJobs(ctrlmetrics.Registry)

func broadcastJobs(f *pflag.FlagSet) kind {
	workers := f.Int("broadcastjob-workers", 3, "BroadcastJobs reconciled at the same time")
	byScheduler := f.Bool("assign-bcj-pods-by-scheduler", true, "have the scheduler bind the pods of BroadcastJobs to their nodes")
	return kind{
		name: "broadcastjob-controller", resource: broadcastJobsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return broadcastjob.Describe(broadcastjob.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				BroadcastJobs: p.caches.broadcastJobs(), Pods: p.caches.pods(), Nodes: p.caches.nodes(),
				JobMetrics: jobs, Features: broadcastjob.Features{AssignDirectly: !*byScheduler},
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return broadcastjob.Describe(broadcastjob.Options{}, &broadcastjob.Webhook{
				TemplateNoDefaults: a.gates.Enabled(features.TemplateNoDefaults),
				Templates:          workloads.DryRun(a.CoreV1()),
			}), nil
		},
	}
}

func (c *caches) broadcastJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.BroadcastJob{}, c.clients.Workloads, client.NewBroadcastJobInformer)
}
