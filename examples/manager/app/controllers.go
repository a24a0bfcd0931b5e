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
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/recreate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// lookAgain is the time between two looks for a missing CRD.
const lookAgain = 5 * time.Second

// controller is one controller of the manager.
type controller struct {
	// name stands in metrics, events and user agents.
	name string
	// resource must be served before the controller runs.
	resource schema.GroupVersionResource
	// embed makes the controller of its parts.
	embed func(parts) (runner, error)
	// rights are what it asks of the API server.
	rights rights
}

// runner is a Controller of the library.
type runner interface {
	Run(ctx context.Context) error
}

// parts are what every controller has of its own.
type parts struct {
	kubernetes kubernetes.Interface
	workloads  client.Interface
	// distribution reads and writes ImagePullJobs and NodeImages.
	distribution distributionclient.Interface
	// lifecycle reads and writes ContainerRecreateRequests.
	lifecycle lifecycleclient.Interface
	recorder  record.EventRecorder
	// caches are shared with other controllers.
	caches *caches
	// jobs is nil where no images are pulled ahead of updates. The workloads
	// all ask for the same methods.
	jobs   workloads.ImagePullJobs
	logger klog.Logger
	// served tells whether the API server serves a resource now.
	served func(schema.GroupVersionResource) (bool, error)
}

// controllers returns all that the manager runs. A new controller is one more
// entry here, the function that fills in its options, that of its rights, and one
// more entry in webhookHandlers.
func (m *Manager) controllers() []controller {
	controllers := []controller{
		{"cloneset-controller", cloneSetsResource, m.newCloneSets, m.cloneSetRights()},
		{"statefulset-controller", statefulSetsResource, m.newStatefulSets, m.statefulSetRights()},
		{"container-launch-priority-controller", podsResource, m.newLaunchPriority, launchPriorityRights()},
		{"pod-readiness-controller", podsResource, m.newPodReadiness, podReadinessRights()},
	}
	if m.gates.Enabled(features.KruiseDaemon) {
		controllers = append(controllers,
			controller{"imagepulljob-controller", imagePullJobsResource, m.newImagePullJobs, imagePullJobRights()},
			controller{"nodeimage-controller", nodeImagesResource, m.newNodeImages, nodeImageRights()},
			controller{"containerrecreaterequest-controller", recreateRequestsResource, m.newContainerRecreateRequests, containerRecreateRequestRights()})
	}
	return controllers
}

var (
	cloneSetsResource        = v1alpha1.SchemeGroupVersion.WithResource("clonesets")
	statefulSetsResource     = v1beta1.SchemeGroupVersion.WithResource("statefulsets")
	imagePullJobsResource    = distributionv1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")
	nodeImagesResource       = distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages")
	recreateRequestsResource = lifecyclev1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests")
	podsResource             = corev1.SchemeGroupVersion.WithResource("pods")
)

// newCloneSets is all it takes to embed a controller: two clients and its options;
// the rest is what an installation may switch on.
func (m *Manager) newCloneSets(p parts) (runner, error) {
	return cloneset.New(cloneset.Options{
		Kubernetes:   p.kubernetes,
		Workloads:    p.workloads,
		Namespace:    m.config.Namespace,
		CloneSets:    p.caches.cloneSets(),
		Pods:         p.caches.pods(),
		Claims:       p.caches.claims(),
		Revisions:    p.caches.revisions(),
		Nodes:        p.caches.nodes(),
		Jobs:         p.jobs,
		Workers:      m.config.CloneSetWorkers,
		Recorder:     p.recorder,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
		Features: cloneset.Features{
			ShortHash:              m.gates.Enabled(features.CloneSetShortHash),
			PartitionRollback:      m.gates.Enabled(features.CloneSetPartitionRollback),
			NoEnvFromMetadata:      !m.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
			ExcludePreparingDelete: m.config.CloneSetScalingExcludePreparingDelete,
			LaunchPriority:         m.gates.Enabled(features.PodWebhook),
			PreDownload:            p.jobs != nil,
		},
	})
}

func (m *Manager) newStatefulSets(p parts) (runner, error) {
	return statefulset.New(statefulset.Options{
		Kubernetes:   p.kubernetes,
		Workloads:    p.workloads,
		Namespace:    m.config.Namespace,
		StatefulSets: p.caches.statefulSets(),
		Pods:         p.caches.pods(),
		Claims:       p.caches.claims(),
		Revisions:    p.caches.revisions(),
		Jobs:         p.jobs,
		Workers:      m.config.StatefulSetWorkers,
		Recorder:     p.recorder,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
		Features: statefulset.Features{
			NoAutoDeleteClaims: !m.gates.Enabled(features.StatefulSetAutoDeletePVC),
			NoEnvFromMetadata:  !m.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
			LaunchPriority:     m.gates.Enabled(features.PodWebhook),
			PreDownload:        p.jobs != nil,
		},
	})
}

// newImagePullJobs has CloneSets and StatefulSets read, where they are served when
// the controller starts. They only say in which order to pull: without them nodes
// come in the order of their pods. Where their CRDs are installed later, it is so
// until the next start, for a controller cannot be given another cache while it
// remembers what it has written.
func (m *Manager) newImagePullJobs(p parts) (runner, error) {
	options := imagepulljob.Options{
		Distribution:  p.distribution,
		Kubernetes:    p.kubernetes,
		Namespace:     m.config.Namespace,
		ImagePullJobs: p.caches.imagePullJobs(),
		NodeImages:    p.caches.nodeImages(),
		Pods:          p.caches.pods(),
		Workers:       m.config.ImagePullJobWorkers,
		Metrics:       m.metrics,
		QueueMetrics:  m.metrics.Queues,
	}
	for resource, read := range map[schema.GroupVersionResource]func(){
		cloneSetsResource:    func() { options.CloneSets = p.caches.cloneSets() },
		statefulSetsResource: func() { options.StatefulSets = p.caches.statefulSets() },
	} {
		served, err := p.served(resource)
		switch {
		case err != nil:
			return nil, err
		case served:
			read()
		default:
			p.logger.Info("Images are pulled in no particular order for pods of this kind until the next start, because its CRD is not installed",
				"crd", resource.GroupResource())
		}
	}
	return imagepulljob.New(options)
}

func (m *Manager) newNodeImages(p parts) (runner, error) {
	options := nodeimage.Options{
		Distribution: p.distribution,
		Kubernetes:   p.kubernetes,
		NodeImages:   p.caches.nodeImages(),
		Nodes:        p.caches.nodes(),
		Timing:       nodeimage.Timing{CreationDelay: m.config.NodeImageCreationDelay, ResponseTimeout: m.config.NodeImageResponseTimeout},
		Workers:      m.config.NodeImageWorkers,
		Recorder:     p.recorder,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
	}
	if m.config.NodeImageCreationDelay == 0 {
		options.Timing.CreationDelay = -1
	}
	if m.config.Namespace == "" { // nodes hold tasks of jobs of all namespaces
		options.ImagePullJobs = p.caches.imagePullJobs()
	}
	return nodeimage.New(options)
}

// newLaunchPriority also starts the containers of pods that were made before the
// gate PodWebhook was turned off, or by hand.
func (m *Manager) newLaunchPriority(p parts) (runner, error) {
	return launchpriority.New(launchpriority.Options{
		Kubernetes:   p.kubernetes,
		Namespace:    m.config.Namespace,
		Pods:         p.caches.pods(),
		Recorder:     p.recorder,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
	})
}

func (m *Manager) newPodReadiness(p parts) (runner, error) {
	return podreadiness.New(podreadiness.Options{
		Kubernetes:   p.kubernetes,
		Namespace:    m.config.Namespace,
		Pods:         p.caches.pods(),
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
	})
}

func (m *Manager) newContainerRecreateRequests(p parts) (runner, error) {
	return recreate.New(recreate.Options{
		Kubernetes:   p.kubernetes,
		Lifecycle:    p.lifecycle,
		Namespace:    m.config.Namespace,
		Pods:         p.caches.pods(),
		Workers:      m.config.ContainerRecreateRequestWorkers,
		Metrics:      m.metrics,
		QueueMetrics: m.metrics.Queues,
	})
}

// run makes a controller and runs it until the context is done.
func (m *Manager) run(ctx context.Context, c controller, config *rest.Config, shared *caches) error {
	p := parts{caches: shared, logger: klog.FromContext(ctx).WithName(c.name)}
	var err error
	if p.kubernetes, err = kubernetesClient(config, c.name); err != nil {
		return err
	}
	if p.workloads, err = workloadsClient(config, c.name); err != nil {
		return err
	}
	if p.distribution, err = distributionclient.NewForConfig(withAgent(config, c.name)); err != nil {
		return err
	}
	if p.lifecycle, err = lifecycleclient.NewForConfig(withAgent(config, c.name)); err != nil {
		return err
	}
	recorder, stop, err := newRecorder(ctx, p.kubernetes, c.name)
	if err != nil {
		return err
	}
	defer stop()
	p.recorder = recorder
	p.served = func(resource schema.GroupVersionResource) (bool, error) {
		return crds.Served(ctx, discovery.ToDiscoveryInterfaceWithContext(p.kubernetes.Discovery()), resource)
	}
	if p.jobs, err = m.imagePullJobs(ctx, p); err != nil {
		return err
	}
	made, err := c.embed(p)
	if err != nil {
		return err
	}
	shared.run(ctx)
	if p.jobs != nil && !cache.WaitForCacheSync(ctx.Done(), shared.imagePullJobs().HasSynced) {
		return fmt.Errorf("reading image pull jobs: %w", context.Cause(ctx))
	}
	m.metrics.Started(c.name)
	return made.Run(ctx)
}

// newRecorder returns a recorder of events about objects of any kind.
func newRecorder(ctx context.Context, client kubernetes.Interface, name string) (record.EventRecorder, func(), error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, distributionv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, nil, err
		}
	}
	// It outlives the controller, whose last pass may have something to tell.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme, corev1.EventSource{Component: name}), broadcaster.Shutdown, nil
}

// runControllers runs every controller until the context is done or one of them
// fails, and waits for all.
func (m *Manager) runControllers(ctx context.Context, config *rest.Config, client discovery.ServerResourcesInterfaceWithContext) error {
	shared, err := m.newCaches(config)
	if err != nil {
		return err
	}
	defer shared.wait()
	running, ctx := errgroup.WithContext(ctx)
	for _, one := range m.controllers() {
		running.Go(func() error {
			waiting := klog.NewContext(ctx, klog.FromContext(ctx).WithName(one.name))
			if !crds.Await(waiting, client, crds.Awaited{Resource: one.resource, Every: lookAgain}) {
				return nil
			}
			if err := m.run(ctx, one, config, shared); err != nil && ctx.Err() == nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			return nil
		})
	}
	return running.Wait()
}
