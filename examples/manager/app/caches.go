// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	availabilityclient "github.com/podwright/podwright/availability/client"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// caches are the informers that controllers share. Each is made when it is asked for first, and runs from the next start
// of a controller on.
type caches struct {
	informers.SharedInformerFactory
	clients   controllers.Clients
	namespace string
	// placements are what controllers know of each other.
	placements placements
}

func (c *caches) pods() cache.SharedIndexInformer  { return c.Core().V1().Pods().Informer() }
func (c *caches) nodes() cache.SharedIndexInformer { return c.Core().V1().Nodes().Informer() }
func (c *caches) claims() cache.SharedIndexInformer {
	return c.Core().V1().PersistentVolumeClaims().Informer()
}
func (c *caches) revisions() cache.SharedIndexInformer {
	return c.Apps().V1().ControllerRevisions().Informer()
}
func (c *caches) cloneSets() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.CloneSet{}, c.clients.Workloads, workloadsclient.NewCloneSetInformer)
}
func (c *caches) statefulSets() cache.SharedIndexInformer {
	return shared(c, &v1beta1.StatefulSet{}, c.clients.Workloads, workloadsclient.NewStatefulSetInformer)
}
func (c *caches) daemonSets() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.DaemonSet{}, c.clients.Workloads, workloadsclient.NewDaemonSetInformer)
}
func (c *caches) advancedCronJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.AdvancedCronJob{}, c.clients.Workloads, workloadsclient.NewAdvancedCronJobInformer)
}
func (c *caches) broadcastJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.BroadcastJob{}, c.clients.Workloads, workloadsclient.NewBroadcastJobInformer)
}
func (c *caches) unitedDeployments() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.UnitedDeployment{}, c.clients.Workloads, workloadsclient.NewUnitedDeploymentInformer)
}
func (c *caches) jobs() cache.SharedIndexInformer { return c.Batch().V1().Jobs().Informer() }
func (c *caches) imagePullJobs() cache.SharedIndexInformer {
	return shared(c, &distributionv1alpha1.ImagePullJob{}, c.clients.Distribution, distributionclient.NewImagePullJobInformer)
}
func (c *caches) nodeImages() cache.SharedIndexInformer {
	return c.InformerFor(&distributionv1alpha1.NodeImage{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return distributionclient.NewNodeImageInformer(c.clients.Distribution, 0, cache.Indexers{})
	})
}

func (c *caches) resourceDistributions() cache.SharedIndexInformer {
	return c.InformerFor(&distributionv1alpha1.ResourceDistribution{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return distributionclient.NewResourceDistributionInformer(c.clients.Distribution, 0, nil)
	})
}

func (c *caches) workloadSpreads() cache.SharedIndexInformer {
	return shared(c, &distributionv1alpha1.WorkloadSpread{}, c.clients.Distribution, distributionclient.NewWorkloadSpreadInformer)
}
func (c *caches) persistentPodStates() cache.SharedIndexInformer {
	return shared(c, &distributionv1alpha1.PersistentPodState{}, c.clients.Distribution, distributionclient.NewPersistentPodStateInformer)
}
func (c *caches) podUnavailableBudgets() cache.SharedIndexInformer {
	return shared(c, &availabilityv1alpha1.PodUnavailableBudget{}, c.clients.Availability, availabilityclient.NewPodUnavailableBudgetInformer)
}
func (c *caches) podDisruptionBudgets() cache.SharedIndexInformer {
	return c.Policy().V1().PodDisruptionBudgets().Informer()
}
func (c *caches) deployments() cache.SharedIndexInformer {
	return c.Apps().V1().Deployments().Informer()
}
func (c *caches) replicaSets() cache.SharedIndexInformer {
	return c.Apps().V1().ReplicaSets().Informer()
}
func (c *caches) builtInStatefulSets() cache.SharedIndexInformer {
	return c.Apps().V1().StatefulSets().Informer()
}
func (c *caches) replicationControllers() cache.SharedIndexInformer {
	return c.Core().V1().ReplicationControllers().Informer()
}

func (c *caches) namespaces() cache.SharedIndexInformer { return c.Core().V1().Namespaces().Informer() }

func (c *caches) sidecarSets() cache.SharedIndexInformer {
	return c.InformerFor(&sidecarv1alpha1.SidecarSet{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return sidecarclient.NewSidecarSetInformer(c.clients.Sidecar, 0, cache.Indexers{})
	})
}

func (c *caches) podProbeMarkers() cache.SharedIndexInformer {
	return shared(c, &lifecyclev1alpha1.PodProbeMarker{}, c.clients.Lifecycle, lifecycleclient.NewPodProbeMarkerInformer)
}
func (c *caches) nodePodProbes() cache.SharedIndexInformer {
	return c.InformerFor(&lifecyclev1alpha1.NodePodProbe{}, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return lifecycleclient.NewNodePodProbeInformer(c.clients.Lifecycle, 0, cache.Indexers{})
	})
}
func (c *caches) containerRecreateRequests() cache.SharedIndexInformer {
	return shared(c, &lifecyclev1alpha1.ContainerRecreateRequest{}, c.clients.Lifecycle, lifecycleclient.NewContainerRecreateRequestInformer)
}

func (c *caches) ephemeralJobs() cache.SharedIndexInformer {
	return shared(c, &lifecyclev1alpha1.EphemeralJob{}, c.clients.Lifecycle, lifecycleclient.NewEphemeralJobInformer)
}

// shared returns the informer of a kind in the namespace of the manager.
func shared[C any](c *caches, object runtime.Object, client C, make func(C, string, time.Duration, cache.Indexers) cache.SharedIndexInformer) cache.SharedIndexInformer {
	return c.InformerFor(object, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return make(client, c.namespace, 0, cache.Indexers{})
	})
}
