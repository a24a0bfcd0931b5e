// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	availabilityclient "github.com/podwright/podwright/availability/client"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// informer makes a shared informer when it is asked for first, which runs from the next start of a controller on.
type informer func() cache.SharedIndexInformer

// caches are what controllers share, and know of each other.
type caches struct {
	informers.SharedInformerFactory

	pods, nodes, namespaces, claims, revisions, jobs, podDisruptionBudgets             informer
	deployments, replicaSets, builtInStatefulSets, replicationControllers              informer
	cloneSets, statefulSets, daemonSets, advancedCronJobs                              informer
	broadcastJobs, unitedDeployments, imagePullJobs, nodeImages, resourceDistributions informer
	workloadSpreads, persistentPodStates, podUnavailableBudgets, sidecarSets           informer
	podProbeMarkers, nodePodProbes, containerRecreateRequests, ephemeralJobs           informer

	// Where the pods of CloneSets and StatefulSets go, as their controllers create them: the controllers of WorkloadSpreads and
	// PersistentPodStates say it.
	spreads, states *workloads.LatePlacement
}

// newCaches returns caches that are empty.
func (m *Manager) newCaches(config *rest.Config) (*caches, error) {
	clients, err := controllers.NewClients(config, program+"/caches")
	if err != nil {
		return nil, err
	}
	namespace := m.config.Namespace
	f := informers.NewSharedInformerFactoryWithOptions(clients.Kubernetes, 0, informers.WithNamespace(namespace), informers.WithTransform(workloads.Trim))
	c := &caches{SharedInformerFactory: f, spreads: workloads.NewLatePlacement("WorkloadSpreads"), states: workloads.NewLatePlacement("PersistentPodStates")}
	if !m.gates.Enabled(features.WorkloadSpread) {
		c.spreads.Missing()
	}
	c.pods, c.nodes, c.namespaces = f.Core().V1().Pods().Informer, f.Core().V1().Nodes().Informer, f.Core().V1().Namespaces().Informer
	c.claims, c.replicationControllers = f.Core().V1().PersistentVolumeClaims().Informer, f.Core().V1().ReplicationControllers().Informer
	c.revisions, c.builtInStatefulSets = f.Apps().V1().ControllerRevisions().Informer, f.Apps().V1().StatefulSets().Informer
	c.deployments, c.replicaSets = f.Apps().V1().Deployments().Informer, f.Apps().V1().ReplicaSets().Informer
	c.jobs, c.podDisruptionBudgets = f.Batch().V1().Jobs().Informer, f.Policy().V1().PodDisruptionBudgets().Informer

	c.cloneSets = shared(f, namespace, &v1alpha1.CloneSet{}, clients.Workloads, workloadsclient.NewCloneSetInformer)
	c.statefulSets = shared(f, namespace, &v1beta1.StatefulSet{}, clients.Workloads, workloadsclient.NewStatefulSetInformer)
	c.daemonSets = shared(f, namespace, &v1alpha1.DaemonSet{}, clients.Workloads, workloadsclient.NewDaemonSetInformer)
	c.advancedCronJobs = shared(f, namespace, &v1alpha1.AdvancedCronJob{}, clients.Workloads, workloadsclient.NewAdvancedCronJobInformer)
	c.broadcastJobs = shared(f, namespace, &v1alpha1.BroadcastJob{}, clients.Workloads, workloadsclient.NewBroadcastJobInformer)
	c.unitedDeployments = shared(f, namespace, &v1alpha1.UnitedDeployment{}, clients.Workloads, workloadsclient.NewUnitedDeploymentInformer)
	c.imagePullJobs = shared(f, namespace, &distributionv1alpha1.ImagePullJob{}, clients.Distribution, distributionclient.NewImagePullJobInformer)
	c.nodeImages = inCluster(f, &distributionv1alpha1.NodeImage{}, clients.Distribution, distributionclient.NewNodeImageInformer)
	c.resourceDistributions = inCluster(f, &distributionv1alpha1.ResourceDistribution{}, clients.Distribution, distributionclient.NewResourceDistributionInformer)
	c.workloadSpreads = shared(f, namespace, &distributionv1alpha1.WorkloadSpread{}, clients.Distribution, distributionclient.NewWorkloadSpreadInformer)
	c.persistentPodStates = shared(f, namespace, &distributionv1alpha1.PersistentPodState{}, clients.Distribution, distributionclient.NewPersistentPodStateInformer)
	c.podUnavailableBudgets = shared(f, namespace, &availabilityv1alpha1.PodUnavailableBudget{}, clients.Availability, availabilityclient.NewPodUnavailableBudgetInformer)
	c.sidecarSets = inCluster(f, &sidecarv1alpha1.SidecarSet{}, clients.Sidecar, sidecarclient.NewSidecarSetInformer)
	c.podProbeMarkers = shared(f, namespace, &lifecyclev1alpha1.PodProbeMarker{}, clients.Lifecycle, lifecycleclient.NewPodProbeMarkerInformer)
	c.nodePodProbes = inCluster(f, &lifecyclev1alpha1.NodePodProbe{}, clients.Lifecycle, lifecycleclient.NewNodePodProbeInformer)
	c.containerRecreateRequests = shared(f, namespace, &lifecyclev1alpha1.ContainerRecreateRequest{}, clients.Lifecycle, lifecycleclient.NewContainerRecreateRequestInformer)
	c.ephemeralJobs = shared(f, namespace, &lifecyclev1alpha1.EphemeralJob{}, clients.Lifecycle, lifecycleclient.NewEphemeralJobInformer)
	return c, nil
}

// shared returns the informer of a kind in a namespace.
func shared[C any](f informers.SharedInformerFactory, namespace string, object runtime.Object, client C, make func(C, string, time.Duration, cache.Indexers) cache.SharedIndexInformer) informer {
	return inCluster(f, object, client, func(client C, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		return make(client, namespace, resync, indexers)
	})
}

// inCluster returns the informer of a kind that has no namespace.
func inCluster[C any](f informers.SharedInformerFactory, object runtime.Object, client C, make func(C, time.Duration, cache.Indexers) cache.SharedIndexInformer) informer {
	return func() cache.SharedIndexInformer {
		return f.InformerFor(object, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			return make(client, 0, cache.Indexers{})
		})
	}
}
