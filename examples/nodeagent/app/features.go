// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/nodeagent/kubeletpods"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/containermeta"
	"github.com/podwright/podwright/nodeagent/image"
	"github.com/podwright/podwright/nodeagent/policies"
	"github.com/podwright/podwright/nodeagent/probe"
	"github.com/podwright/podwright/nodeagent/recreate"
)

// reconciles measures the features, and probes what the probes of pods do. What a process measures stands in component-base's registry.
var (
	reconciles = metrics.New(legacyregistry.Registerer())
	probes     = metrics.NewProbes(legacyregistry.Registerer())
)

// shared is what the features share.
type shared struct {
	config  *Config
	gates   *features.Gates
	runtime *nodeagent.Runtime
	caches  *caches
	// credentials are those of the node, nil for none.
	credentials image.Credentials
}

// features returns all that the agent runs. A new feature is one more entry here.
func (s *shared) features() []controllers.Controller {
	all := []controllers.Controller{{
		Name: containermeta.EventSource, Gate: features.DaemonWatchingPod, Resource: corev1.SchemeGroupVersion.WithResource("pods"),
		Compose: func(_ context.Context, own *controllers.Own) (podwright.Kind, error) {
			return controllers.Of(containermeta.Options{
				Kubernetes: own.Kubernetes, Runtime: s.runtime, Node: s.config.NodeName, Pods: s.caches.pods(), ControllerOptions: podwright.ControllerOptions{Recorders: own.Recorders, Metrics: reconciles, Workers: s.config.Concurrency},
				RestartWorkers: s.config.RestartConcurrency, MaxGracePeriod: s.config.MaxGracePeriod,
				PodsOfKubelet: s.config.Pods == PodsOfKubelet,
				Features:      containermeta.Features{NoEnvFromMetadata: !s.gates.Enabled(features.InPlaceUpdateEnvFromMetadata)},
			}, containermeta.New, containermeta.Rules), nil
		},
	}, {
		Name: recreate.EventSource, Gate: features.KruiseDaemon, Resource: lifecyclev1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"),
		Compose: func(_ context.Context, own *controllers.Own) (podwright.Kind, error) {
			return controllers.Of(recreate.Options{
				Lifecycle: own.Lifecycle, Runtime: s.runtime, Node: s.config.NodeName, Requests: s.caches.requests(), ControllerOptions: podwright.ControllerOptions{Recorders: own.Recorders, Metrics: reconciles},
				MaxGracePeriod: s.config.MaxGracePeriod,
			}, recreate.New, recreate.Rules), nil
		},
	}, {
		Name: probe.EventSource, Gate: features.PodProbeMarkerGate, Resource: lifecyclev1alpha1.SchemeGroupVersion.WithResource("nodepodprobes"),
		Compose: func(_ context.Context, own *controllers.Own) (podwright.Kind, error) {
			return controllers.Of(probe.Options{
				Lifecycle: own.Lifecycle, Runtime: s.runtime, Node: s.config.NodeName, NodePodProbes: s.caches.nodePodProbes(), ControllerOptions: podwright.ControllerOptions{Recorders: own.Recorders, Metrics: reconciles}, ProbeMetrics: probes,
			}, probe.New, probe.Rules), nil
		},
	}}
	if s.config.PullImages {
		all = append(all, s.pulls())
	}
	return all
}

// pulls pulls the images of the node.
func (s *shared) pulls() controllers.Controller {
	return controllers.Controller{
		Name: image.EventSource, Gate: features.KruiseDaemon, Resource: distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages"),
		Compose: func(_ context.Context, own *controllers.Own) (podwright.Kind, error) {
			described := controllers.Of(image.Options{
				Distribution: own.Distribution, Kubernetes: own.Kubernetes, Runtime: s.runtime, Node: s.config.NodeName, NodeImages: s.caches.nodeImages(),
				Concurrency: cmp.Or(max(0, s.config.MaxPulls), s.config.Concurrency), ControllerOptions: podwright.ControllerOptions{Recorders: own.Recorders, Metrics: reconciles},
				Filter: s.config.pullFilter(), ReadSourceSecrets: s.config.ReadSourceSecrets, Credentials: s.credentials,
			}, image.New, image.Rules)
			where, there := image.NamespaceRules(image.Options{})
			described.Permissions = append(described.Permissions, podwright.Permission{Namespace: where, Rules: there})
			return described, nil
		},
	}
}

// Namespace is that of the ServiceAccount of the agents.
const Namespace = "kruise-system"

// Permissions returns what an agent with this configuration asks of the API server, by its features. Rules to read stand
// with the features that read; the requests come from the cache that they share.
func Permissions(config Config) ([]permissions.Part, error) {
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	caches, err := newCaches(&rest.Config{}, config.NodeName) // which is asked nothing
	if err != nil {
		return nil, err
	}
	all := &shared{config: &config, gates: gates, caches: caches}
	kinds, err := controllers.Describe(controllers.Enabled(all.features(), gates))
	if err != nil {
		return nil, err
	}
	set, err := manager.New(manager.Options{}, kinds...)
	if err != nil {
		return nil, err
	}
	needed := set.Permissions()
	if config.endpoint() == "" {
		needed = append(needed, permissions.Part{Rules: nodeagent.RuntimeOfRules()})
	}
	return needed, nil
}

// Manifest returns the RBAC objects for the agents of all nodes with this configuration. RBAC knows no nodes, so each may
// do its work with all pods; what Policies returns holds it to those of its own.
func Manifest(config Config) ([]byte, error) {
	needed, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(name, Namespace, needed)
}

// Policies returns the admission policies that hold every agent to its own node.
func Policies() ([]byte, error) {
	all, bindings, err := policies.New(policies.Options{Namespace: Namespace, Name: name})
	if err != nil {
		return nil, err
	}
	return permissions.Policies(all, bindings)
}

// caches hold objects of the node, if a feature asks for them.
type caches struct {
	informers.SharedInformerFactory
	clients controllers.Clients
	node    string
	// kubelet is asked for pods; nil for the API server.
	kubelet grpc.ClientConnInterface
}

func newCaches(config *rest.Config, node string) (*caches, error) {
	clients, err := controllers.NewClients(config, name)
	if err != nil {
		return nil, err
	}
	return &caches{SharedInformerFactory: informers.NewSharedInformerFactory(clients.Kubernetes, 0), clients: clients, node: node}, nil
}

func (c *caches) pods() cache.SharedIndexInformer {
	return c.InformerFor(&corev1.Pod{}, func(client kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer {
		if c.kubelet != nil {
			return kubeletpods.NewInformer(c.kubelet, nil)
		}
		return nodeagent.NewPodInformer(client, c.node)
	})
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return c.InformerFor(&distributionv1alpha1.NodeImage{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return image.NewInformer(c.clients.Distribution, c.node)
	})
}

func (c *caches) nodePodProbes() cache.SharedIndexInformer {
	return c.InformerFor(&lifecyclev1alpha1.NodePodProbe{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return probe.NewInformer(c.clients.Lifecycle, c.node)
	})
}

func (c *caches) requests() cache.SharedIndexInformer {
	return c.InformerFor(&lifecyclev1alpha1.ContainerRecreateRequest{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return recreate.NewRequestInformer(c.clients.Lifecycle, c.node)
	})
}

// runFeatures runs every feature whose gate is open until the context is done or one of them fails, and waits for all.
// Each begins when the API server serves what it is about.
func (a *Agent) runFeatures(ctx context.Context, config *rest.Config, s *shared) error {
	for _, one := range s.features() {
		if !a.gates.Enabled(one.Gate) {
			klog.FromContext(ctx).Info("Not started, because its feature gate is closed", "feature", one.Name, "gate", one.Gate)
		}
	}
	open := controllers.Enabled(s.features(), a.gates)
	a.ready.connected(s, open)
	running := controllers.Program{
		Name: name, Config: config, Caches: s.caches, LookAgain: a.lookAgain, Host: a.config.NodeName,
		Waits: a.ready.waits, Runs: a.ready.runs,
	}
	return running.Run(ctx, open)
}
