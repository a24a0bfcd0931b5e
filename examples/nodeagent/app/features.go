// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/examples/process/crds"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/metrics"
	"github.com/podwright/podwright/examples/process/permissions"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/containermeta"
	"github.com/podwright/podwright/nodeagent/image"
	"github.com/podwright/podwright/nodeagent/recreate"
)

// reconciles measures the features. What a process measures stands in component-base's registry.
var reconciles = metrics.New(legacyregistry.Registerer())

// feature is one feature of the agent.
type feature struct {
	// name is the component that its events come from, and ends its user agent.
	name string
	// gate switches it.
	gate featuregate.Feature
	// resource must be served before the feature runs.
	resource schema.GroupVersionResource
	// new makes the feature.
	new func(*Config, parts) (runner, error)
	// rules are what it asks of the API server.
	rules []rbacv1.PolicyRule
}

// runner is a Controller of the library.
type runner interface {
	Run(ctx context.Context) error
}

// parts are what a feature is composed of: clients and a recorder of its own, and what it shares with the others.
type parts struct {
	clients
	recorder record.EventRecorder
	gates    featuregate.FeatureGate
	runtime  *nodeagent.Runtime
	caches   *caches
}

// allFeatures returns all that the agent runs. A new feature is one more entry here.
func allFeatures() []feature {
	const kruise = lifecyclev1alpha1.GroupName
	return []feature{{
		name: containermeta.EventSource, gate: features.DaemonWatchingPod, resource: corev1.SchemeGroupVersion.WithResource("pods"),
		new: func(c *Config, p parts) (runner, error) {
			return containermeta.New(containermeta.Options{
				Kubernetes: p.kubernetes, Runtime: p.runtime, Node: c.NodeName, Pods: p.caches.pods(), Recorder: p.recorder, Metrics: reconciles,
				Workers: c.Concurrency, RestartWorkers: c.RestartConcurrency,
				Features: containermeta.Features{NoEnvFromMetadata: !p.gates.Enabled(features.InPlaceUpdateEnvFromMetadata)},
			})
		},
		rules: []rbacv1.PolicyRule{
			permissions.Rule("list watch", "", "pods"),
			permissions.Rule("patch", "", "pods/status"),
			permissions.Rule("create patch", "", "events"),
		},
	}, {
		name: recreate.EventSource, gate: features.KruiseDaemon, resource: lifecyclev1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests"),
		new: func(c *Config, p parts) (runner, error) {
			return recreate.New(recreate.Options{
				Lifecycle: p.lifecycle, Runtime: p.runtime, Node: c.NodeName, Requests: p.caches.requests(), Recorder: p.recorder, Metrics: reconciles,
			})
		},
		rules: []rbacv1.PolicyRule{
			permissions.Rule("list watch patch", kruise, "containerrecreaterequests"),
			permissions.Rule("patch", kruise, "containerrecreaterequests/status"),
			permissions.Rule("list watch", "", "pods"),
			permissions.Rule("create patch", "", "events"),
		},
	}, {
		name: image.EventSource, gate: features.KruiseDaemon, resource: distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages"),
		new: func(c *Config, p parts) (runner, error) {
			return image.New(image.Options{
				Distribution: p.distribution, Kubernetes: p.kubernetes, Runtime: p.runtime, Node: c.NodeName, NodeImages: p.caches.nodeImages(),
				Concurrency: c.Concurrency, Recorder: p.recorder, Metrics: reconciles,
			})
		},
		rules: []rbacv1.PolicyRule{
			permissions.Rule("list watch", kruise, "nodeimages"),
			permissions.Rule("patch", kruise, "nodeimages/status"),
			permissions.Rule("get", "", "secrets"), // those that a task names
			permissions.Rule("create patch", "", "events"),
		},
	}}
}

// Namespace is where the ServiceAccount of the agents stands.
const Namespace = "kruise-system"

// Permissions returns what an agent with this configuration asks of the API server, by its features. Rules to read stand
// with the features that read; the requests come from the cache that they share.
func Permissions(config Config) (needed []permissions.Part, err error) {
	gates, err := features.Parse(config.FeatureGates, "")
	if err != nil {
		return nil, err
	}
	for _, f := range allFeatures() {
		if gates.Enabled(f.gate) {
			needed = append(needed, permissions.Part{Name: f.name, Rules: f.rules})
		}
	}
	return needed, nil
}

// Manifest returns the RBAC objects for the agents of all nodes with this configuration. RBAC knows no nodes, so each may
// do its work with all pods.
func Manifest(config Config) ([]byte, error) {
	needed, err := Permissions(config)
	if err != nil {
		return nil, err
	}
	return permissions.Manifest(name, Namespace, needed)
}

// clients are those of the agent, or of one of its features.
type clients struct {
	kubernetes   kubernetes.Interface
	distribution distributionclient.Interface
	lifecycle    lifecycleclient.Interface
}

func newClients(config *rest.Config, agent string) (c clients, err error) {
	config = rest.CopyConfig(config)
	config.UserAgent = agent
	var errs [3]error
	c.kubernetes, errs[0] = process.KubernetesClient(config)
	c.distribution, errs[1] = distributionclient.NewForConfig(config)
	c.lifecycle, errs[2] = lifecycleclient.NewForConfig(config)
	return c, errors.Join(errs[:]...)
}

// caches hold objects of the node, if a feature asks for them.
type caches struct {
	informers.SharedInformerFactory
	clients
	node string
}

func (c *caches) pods() cache.SharedIndexInformer {
	return c.InformerFor(&corev1.Pod{}, func(client kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer {
		return nodeagent.NewPodInformer(client, c.node)
	})
}

func (c *caches) nodeImages() cache.SharedIndexInformer {
	return c.InformerFor(&distributionv1alpha1.NodeImage{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return image.NewInformer(c.distribution, c.node)
	})
}

func (c *caches) requests() cache.SharedIndexInformer {
	return c.InformerFor(&lifecyclev1alpha1.ContainerRecreateRequest{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return recreate.NewRequestInformer(c.lifecycle, c.node)
	})
}

// runFeatures runs every feature whose gate is open until the context is done or one of them fails, and waits for all.
// Each begins when the API server serves what it is about.
func (a *Agent) runFeatures(ctx context.Context, config *rest.Config, shared parts) error {
	running, ctx := errgroup.WithContext(ctx)
	var open []feature
	for _, one := range allFeatures() {
		if !a.gates.Enabled(one.gate) {
			klog.FromContext(ctx).Info("Not started, because its feature gate is closed", "feature", one.name, "gate", one.gate)
			continue
		}
		open = append(open, one)
	}
	defer shared.caches.Shutdown()
	a.ready.connected(shared, open)
	for _, one := range open {
		running.Go(func() error {
			if err := a.runFeature(ctx, one, config, shared); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			return nil
		})
	}
	running.Go(func() error { <-ctx.Done(); return nil }) // also without features
	return running.Wait()
}

// runFeature waits for the CRD of a feature, and runs the feature and the caches that it shares.
func (a *Agent) runFeature(ctx context.Context, f feature, config *rest.Config, p parts) error {
	waiting := klog.NewContext(ctx, klog.FromContext(ctx).WithName(f.name))
	client := discovery.ToDiscoveryInterfaceWithContext(p.caches.kubernetes.Discovery())
	err := crds.Await(waiting, client, f.resource, a.lookAgain, func() { a.ready.waits(f) })
	if err != nil {
		return err
	}
	if p.clients, err = newClients(config, name+"/"+f.name); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), distributionv1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	// It outlives the feature, whose last reconcile may record an event.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: p.kubernetes.CoreV1().Events("")})
	p.recorder = broadcaster.NewRecorder(scheme, corev1.EventSource{Component: f.name, Host: a.config.NodeName})
	made, err := f.new(&a.config, p)
	if err != nil {
		return err
	}
	p.caches.StartWithContext(ctx)
	a.ready.runs(f)
	return made.Run(ctx)
}
