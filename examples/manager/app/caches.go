// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/workloads"
)

// informer makes a shared informer when it is asked for first, which runs from the next start of a controller on.
type informer func() cache.SharedIndexInformer

// caches are what controllers share, and know of each other.
type caches struct {
	informers.SharedInformerFactory

	clients   controllers.Clients
	namespace string

	// Of built-in kinds. Those of a kind of ours are a method, beside the kind.
	pods, nodes, namespaces, claims, revisions, jobs, podDisruptionBudgets informer
	deployments, replicaSets, builtInStatefulSets, replicationControllers  informer

	// What says to which nodes the pods of CloneSets and StatefulSets go, as their controllers create them: the controllers of WorkloadSpreads and
	// PersistentPodStates say it.
	spreads, states *workloads.LatePlacement
}

// newCaches returns caches that are empty.
func (m *Manager) newCaches(config *rest.Config) (*caches, error) {
	clients, err := controllers.NewClients(config, program+"/caches")
	if err != nil {
		return nil, err
	}
	f := informers.NewSharedInformerFactoryWithOptions(clients.Kubernetes, 0, informers.WithNamespace(m.config.Namespace), informers.WithTransform(workloads.Trim))
	c := &caches{SharedInformerFactory: f, clients: clients, namespace: m.config.Namespace, spreads: workloads.NewLatePlacement("WorkloadSpreads"), states: workloads.NewLatePlacement("PersistentPodStates")}
	if !m.gates.Enabled(features.WorkloadSpread) {
		c.spreads.Missing()
	}
	c.pods, c.nodes, c.namespaces = f.Core().V1().Pods().Informer, f.Core().V1().Nodes().Informer, f.Core().V1().Namespaces().Informer
	c.claims, c.replicationControllers = f.Core().V1().PersistentVolumeClaims().Informer, f.Core().V1().ReplicationControllers().Informer
	c.revisions, c.builtInStatefulSets = f.Apps().V1().ControllerRevisions().Informer, f.Apps().V1().StatefulSets().Informer
	c.deployments, c.replicaSets = f.Apps().V1().Deployments().Informer, f.Apps().V1().ReplicaSets().Informer
	c.jobs, c.podDisruptionBudgets = f.Batch().V1().Jobs().Informer, f.Policy().V1().PodDisruptionBudgets().Informer
	return c, nil
}

// shared returns the informer of a kind in the namespace of the manager.
func shared[C any](c *caches, object runtime.Object, client C, make func(C, string, time.Duration, cache.Indexers) cache.SharedIndexInformer) cache.SharedIndexInformer {
	return inCluster(c, object, client, func(client C, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		return make(client, c.namespace, resync, indexers)
	})
}

// inCluster returns the informer of a kind that has no namespace.
func inCluster[C any](c *caches, object runtime.Object, client C, make func(C, time.Duration, cache.Indexers) cache.SharedIndexInformer) cache.SharedIndexInformer {
	return c.InformerFor(object, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
		return make(client, 0, cache.Indexers{})
	})
}
