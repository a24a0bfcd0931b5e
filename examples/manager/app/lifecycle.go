// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	podProbeMarkersResource = v1alpha1.SchemeGroupVersion.WithResource("podprobemarkers")
	nodePodProbesResource   = v1alpha1.SchemeGroupVersion.WithResource("nodepodprobes")
)

func podProbeMarkers(f *pflag.FlagSet) kind {
	workers := f.Int("podprobemarker-workers", 3, "PodProbeMarkers reconciled at the same time")
	return kind{
		name: "podprobemarker-controller", gate: features.PodProbeMarkerGate, resource: podProbeMarkersResource,
		beside: these(nodePodProbesResource),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(podprobemarker.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				Markers: p.caches.podProbeMarkers(), Pods: p.caches.pods(), NodePodProbes: p.caches.nodePodProbes(),
			}, podprobemarker.New, podprobemarker.Rules), nil
		},
		webhook: func(*admissions) webhook { return &podprobemarker.Webhook{} },
	}
}

func nodePodProbes(f *pflag.FlagSet) kind {
	workers := f.Int("nodepodprobe-workers", 3, "nodes reconciled with their NodePodProbes at the same time")
	return kind{
		name: "nodepodprobe-controller", gate: features.PodProbeMarkerGate, resource: nodePodProbesResource,
		beside: these(podProbeMarkersResource),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(nodepodprobe.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				NodePodProbes: p.caches.nodePodProbes(), Nodes: p.caches.nodes(), Markers: p.caches.podProbeMarkers(), Pods: p.caches.pods(),
			}, nodepodprobe.New, nodepodprobe.Rules), nil
		},
	}
}

func ephemeralJobs(f *pflag.FlagSet) kind {
	workers := f.Int("ephemeraljob-workers", 10, "EphemeralJobs reconciled at the same time")
	return kind{
		name: "ephemeraljob-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"),
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(ephemeraljob.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers), JobMetrics: debugging,
				EphemeralJobs: p.caches.ephemeralJobs(), Pods: p.caches.pods(),
			}, ephemeraljob.New, ephemeraljob.Rules), nil
		},
	}
}
