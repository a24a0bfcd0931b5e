package app

import (
	"context"
	"fmt"
	"time"

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

	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// lookAgain is the time between two looks for a missing CRD.
const lookAgain = 5 * time.Second

// controller is one controller of the manager.
type controller struct {
	// name stands in metrics, events and user agents.
	name string
	// resource must be served before run.
	resource schema.GroupVersionResource
	// run works until the context is done.
	run func(ctx context.Context) error
}

// controllers returns all that the manager runs. A new controller is one more
// entry here, and one more list of webhooks in admissionHandlers.
func (m *Manager) controllers(config *rest.Config) []controller {
	return []controller{{
		name:     "cloneset-controller",
		resource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"),
		run:      func(ctx context.Context) error { return m.runCloneSets(ctx, "cloneset-controller", config) },
	}}
}

// runCloneSets is all it takes to embed a controller: two clients and its options;
// the rest is what an installation may switch on.
func (m *Manager) runCloneSets(ctx context.Context, name string, config *rest.Config) error {
	client, err := kubernetesClient(config, name)
	if err != nil {
		return err
	}
	workloads, err := workloadsClient(config, name)
	if err != nil {
		return err
	}
	recorder, stop, err := newRecorder(ctx, client, name)
	if err != nil {
		return err
	}
	defer stop()
	jobs, stopJobs, err := m.imagePullJobs(ctx, discovery.ToDiscoveryInterfaceWithContext(client.Discovery()), config, name)
	if err != nil {
		return err
	}
	defer stopJobs()
	sets, err := cloneset.New(cloneset.Options{
		Kubernetes:   client,
		Workloads:    workloads,
		Namespace:    m.config.Namespace,
		Jobs:         jobs,
		Workers:      m.config.CloneSetWorkers,
		Recorder:     recorder,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
		Features: cloneset.Features{
			ShortHash:              m.gates.Enabled(features.CloneSetShortHash),
			PartitionRollback:      m.gates.Enabled(features.CloneSetPartitionRollback),
			NoEnvFromMetadata:      !m.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
			ExcludePreparingDelete: m.config.CloneSetScalingExcludePreparingDelete,
			PreDownload:            jobs != nil,
		},
	})
	if err != nil {
		return err
	}
	m.metrics.Started(name)
	return sets.Run(ctx)
}

// newRecorder returns a recorder of events about objects of any kind.
func newRecorder(ctx context.Context, client kubernetes.Interface, name string) (record.EventRecorder, func(), error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, nil, err
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, nil, err
	}
	// It outlives the controller, whose last pass may have something to tell.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme, corev1.EventSource{Component: name}), broadcaster.Shutdown, nil
}

// runControllers runs every controller until the context is done or one of them
// fails, and waits for all.
func (m *Manager) runControllers(ctx context.Context, config *rest.Config, client discovery.ServerResourcesInterfaceWithContext) error {
	running, ctx := errgroup.WithContext(ctx)
	for _, one := range m.controllers(config) {
		running.Go(func() error {
			if !waitServed(ctx, client, one) {
				return nil
			}
			if err := one.run(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			return nil
		})
	}
	return running.Wait()
}

// waitServed returns true once the API server serves the controller's resource,
// false when the context is done before that.
func waitServed(ctx context.Context, client discovery.ServerResourcesInterfaceWithContext, c controller) bool {
	logger := klog.FromContext(ctx).WithName(c.name)
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for first := true; ; first = false {
		served, err := crds.Served(ctx, client, c.resource)
		switch {
		case served:
			return true
		case ctx.Err() != nil:
			return false
		case err != nil:
			logger.Error(err, "Trying again", "after", lookAgain)
		case first:
			logger.Info("Not started, because its CRD is not installed; it starts when the CRD appears", "crd", c.resource.GroupResource())
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}
