// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	podProbeMarkersResource           = v1alpha1.SchemeGroupVersion.WithResource("podprobemarkers")
	nodePodProbesResource             = v1alpha1.SchemeGroupVersion.WithResource("nodepodprobes")
	containerRecreateRequestsResource = v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests")
)

func lifecycleKinds(f *pflag.FlagSet) []kind {
	return []kind{launchPriorities(), podReadiness(), podProbeMarkers(f), nodePodProbes(f), containerRecreateRequests(f), ephemeralJobs(f)}
}

func podProbeMarkers(f *pflag.FlagSet) kind {
	workers := f.Int("podprobemarker-workers", 3, "PodProbeMarkers reconciled at the same time")
	return kind{
		name: "podprobemarker-controller", gate: features.PodProbeMarkerGate, resource: podProbeMarkersResource,
		beside: these(nodePodProbesResource),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return podprobemarker.Describe(podprobemarker.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				Markers: p.caches.podProbeMarkers(), Pods: p.caches.pods(), NodePodProbes: p.caches.nodePodProbes(),
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return podprobemarker.Describe(podprobemarker.Options{}, &podprobemarker.Webhook{PlainNames: a.gates.Enabled(features.PodProbeMarkerPlainNames)}), nil
		},
	}
}

func (c *caches) podProbeMarkers() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.PodProbeMarker{}, c.clients.Lifecycle, client.NewPodProbeMarkerInformer)
}

func nodePodProbes(f *pflag.FlagSet) kind {
	workers := f.Int("nodepodprobe-workers", 3, "nodes reconciled with their NodePodProbes at the same time")
	return kind{
		name: "nodepodprobe-controller", gate: features.PodProbeMarkerGate, resource: nodePodProbesResource,
		beside: these(podProbeMarkersResource),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return nodepodprobe.Describe(nodepodprobe.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				NodePodProbes: p.caches.nodePodProbes(), Nodes: p.caches.nodes(), Markers: p.caches.podProbeMarkers(), Pods: p.caches.pods(),
				Features: nodepodprobe.Features{Serverless: p.gates.Enabled(features.EnablePodProbeMarkerOnServerless)},
			}), nil
		},
	}
}

func (c *caches) nodePodProbes() cache.SharedIndexInformer {
	return inCluster(c, &v1alpha1.NodePodProbe{}, c.clients.Lifecycle, client.NewNodePodProbeInformer)
}

var debugging = metrics.NewEphemeralJobs(ctrlmetrics.Registry)

func ephemeralJobs(f *pflag.FlagSet) kind {
	workers := f.Int("ephemeraljob-workers", 10, "EphemeralJobs reconciled at the same time")
	return kind{
		name: "ephemeraljob-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("ephemeraljobs"),
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return ephemeraljob.Describe(ephemeraljob.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers), JobMetrics: debugging,
				EphemeralJobs: p.caches.ephemeralJobs(), Pods: p.caches.pods(),
			}), nil
		},
	}
}

func (c *caches) ephemeralJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.EphemeralJob{}, c.clients.Lifecycle, client.NewEphemeralJobInformer)
}

func containerRecreateRequests(f *pflag.FlagSet) kind {
	workers := f.Int("crr-workers", 3, "ContainerRecreateRequests reconciled at the same time")
	return kind{
		name: "containerrecreaterequest-controller", gate: features.KruiseDaemon,
		resource: containerRecreateRequestsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return recreate.Describe(recreate.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				Requests: p.caches.containerRecreateRequests(), Pods: p.caches.pods(),
			}, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			w := &recreate.Webhook{Pods: podGetter(a), Disabled: !a.gates.Enabled(features.KruiseDaemon)}
			if a.gates.Enabled(features.ContainerRecreateVirtualNodes) {
				w.Nodes = func(ctx context.Context, name string) (*corev1.Node, error) {
					return a.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
				}
			}
			return recreate.Describe(recreate.Options{}, w), nil
		},
	}
}

func (c *caches) containerRecreateRequests() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.ContainerRecreateRequest{}, c.clients.Lifecycle, client.NewContainerRecreateRequestInformer)
}

// launchPriorities also start the containers of pods that were made before the gate PodWebhook was turned off, or by hand.
func launchPriorities() kind {
	return kind{
		name: "container-launch-priority-controller", resource: podsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return launchpriority.Describe(launchpriority.Options{
				Kubernetes: p.Kubernetes, ControllerOptions: p.options(0), Pods: p.caches.pods(), Features: launchpriority.Features{
					KeyBeforeReport: p.gates.Enabled(features.LaunchPriorityFirstKey),
					MarkCompleted:   p.gates.Enabled(features.LaunchPriorityMark),
				},
			}), nil
		},
	}
}

func podReadiness() kind {
	return kind{
		name: "pod-readiness-controller", resource: podsResource,
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			return podreadiness.Describe(podreadiness.Options{
				Kubernetes: p.Kubernetes, ControllerOptions: p.options(0), Pods: p.caches.pods(),
			}), nil
		},
	}
}
