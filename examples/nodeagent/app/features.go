package app

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/permissions"
	"github.com/podwright/podwright/examples/process"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/containermeta"
	"github.com/podwright/podwright/nodeagent/image"
	"github.com/podwright/podwright/nodeagent/recreate"
)

// feature is one feature of the agent.
type feature struct {
	// name is the component that its events come from, and ends its user agent.
	name string
	// gate switches it.
	gate features.Gate
	// resource must be served before the feature runs.
	resource schema.GroupVersionResource
	// embed makes the feature of its parts.
	embed func(parts) (runner, error)
	// rights are what it asks of the API server.
	rights []permissions.Right
}

// runner is a Controller of the library.
type runner interface {
	Run(ctx context.Context) error
}

// parts are what every feature has of its own, and what it shares with the others.
type parts struct {
	kubernetes   kubernetes.Interface
	distribution distributionclient.Interface
	lifecycle    lifecycleclient.Interface
	recorder     record.EventRecorder
	// runtime, and the objects of the node, are shared.
	runtime                    *nodeagent.Runtime
	pods, nodeImages, requests *nodeCache
}

// features returns all that the agent runs. A new feature is one more entry here,
// the function that fills in its options, and its rights.
func (a *Agent) features() []feature {
	return []feature{
		{containermeta.EventSource, features.DaemonWatchingPod, podsResource, a.newContainerMeta, containerMetaRights()},
		{recreate.EventSource, features.KruiseDaemon, recreateRequestsResource, a.newRecreate, recreateRights()},
		{image.EventSource, features.KruiseDaemon, nodeImagesResource, a.newImage, imageRights()},
	}
}

var (
	podsResource             = corev1.SchemeGroupVersion.WithResource("pods")
	recreateRequestsResource = lifecyclev1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests")
	nodeImagesResource       = distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages")
)

func (a *Agent) newContainerMeta(p parts) (runner, error) {
	return containermeta.New(containermeta.Options{
		Kubernetes:     p.kubernetes,
		Runtime:        p.runtime,
		Node:           a.config.NodeName,
		Pods:           p.pods.shared(),
		Workers:        a.config.Concurrency,
		RestartWorkers: a.config.RestartConcurrency,
		Recorder:       p.recorder,
		Metrics:        a.metrics,
		QueueMetrics:   a.metrics.Queues,
		Features: containermeta.Features{
			NoEnvFromMetadata: !a.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
		},
	})
}

func (a *Agent) newRecreate(p parts) (runner, error) {
	return recreate.New(recreate.Options{
		Lifecycle:    p.lifecycle,
		Runtime:      p.runtime,
		Node:         a.config.NodeName,
		Requests:     p.requests.shared(),
		Recorder:     p.recorder,
		Metrics:      a.metrics,
		QueueMetrics: a.metrics.Queues,
	})
}

func (a *Agent) newImage(p parts) (runner, error) {
	return image.New(image.Options{
		Distribution: p.distribution,
		Kubernetes:   p.kubernetes,
		Runtime:      p.runtime,
		Node:         a.config.NodeName,
		NodeImages:   p.nodeImages.shared(),
		Concurrency:  a.config.Concurrency,
		Recorder:     p.recorder,
		Metrics:      a.metrics,
		QueueMetrics: a.metrics.Queues,
	})
}

// runFeatures runs every feature whose gate is open until the context is done or
// one of them fails, and waits for all. Each begins when the API server serves
// what it is about.
func (a *Agent) runFeatures(ctx context.Context, config *rest.Config, shared parts) error {
	running, ctx := errgroup.WithContext(ctx)
	var open []feature
	for _, one := range a.features() {
		if !a.gates.Enabled(one.gate) {
			klog.FromContext(ctx).Info("Not started, because its feature gate is closed", "feature", one.name, "gate", one.gate)
			continue
		}
		open = append(open, one)
	}
	a.ready.connected(shared, open)
	for _, one := range open {
		running.Go(func() error {
			if err := a.runFeature(ctx, running, one, config, shared); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			return nil
		})
	}
	running.Go(func() error { <-ctx.Done(); return nil }) // also without features
	return running.Wait()
}

// runFeature waits for the CRD of a feature, and runs the feature and the caches
// that it shares.
func (a *Agent) runFeature(ctx context.Context, running *errgroup.Group, f feature, config *rest.Config, shared parts) error {
	waiting := klog.NewContext(ctx, klog.FromContext(ctx).WithName(f.name))
	client := discovery.ToDiscoveryInterfaceWithContext(shared.kubernetes.Discovery())
	if !crds.Await(waiting, client, crds.Awaited{
		Resource: f.resource, Every: a.lookAgain, Missing: func() { a.ready.waits(f) },
	}) {
		return nil
	}
	p, stop, err := a.partsOf(ctx, f, config, shared)
	if err != nil {
		return err
	}
	defer stop()
	made, err := f.embed(p)
	if err != nil {
		return err
	}
	for _, c := range []*nodeCache{shared.pods, shared.nodeImages, shared.requests} {
		c.run(ctx, running)
	}
	a.ready.runs(f)
	return made.Run(ctx)
}

// partsOf returns the parts of a feature, and what ends its recorder.
func (a *Agent) partsOf(ctx context.Context, f feature, config *rest.Config, shared parts) (parts, func(), error) {
	config = rest.CopyConfig(config)
	config.UserAgent = name + "/" + f.name
	client, err := process.KubernetesClient(config)
	if err != nil {
		return parts{}, nil, err
	}
	if shared.distribution, err = distributionclient.NewForConfig(config); err != nil {
		return parts{}, nil, err
	}
	scheme, err := recorded()
	if err != nil {
		return parts{}, nil, err
	}
	// It outlives the feature, whose last pass may have something to tell.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	if shared.lifecycle, err = lifecycleclient.NewForConfig(config); err != nil {
		return parts{}, nil, err
	}
	shared.kubernetes = client
	shared.recorder = broadcaster.NewRecorder(scheme, corev1.EventSource{Component: f.name, Host: a.config.NodeName})
	return shared, broadcaster.Shutdown, nil
}

// recorded returns the kinds that events can be about.
func recorded() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(corev1.AddToScheme(scheme), distributionv1alpha1.AddToScheme(scheme))
}
