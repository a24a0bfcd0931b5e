// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/internal/whitelist"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and Distribution are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about PersistentPodStates, their pods and their workloads. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, nodes and StatefulSets, and deletes pods that wait for a node that does not exist.
	Kubernetes kubernetes.Interface
	// Distribution reads and writes PersistentPodStates.
	Distribution client.Interface
	// Workloads reads Advanced StatefulSets (v1beta1), which must be served. Default nil: their pods are not recorded, unless
	// the informer is given.
	Workloads workloadsclient.Interface
	// Custom are further kinds, whose pods are recorded as well. What the API server does not serve must not be among
	// them. Default: none.
	Custom []CustomKind
	// Dynamic reads those of them that have no informer. Required if there are any.
	Dynamic dynamic.Interface

	// These are shared informers, see ControllerOptions.
	States, Pods, Nodes cache.SharedIndexInformer
	// StatefulSets and AdvancedStatefulSets (v1beta1) are such informers, too.
	StatefulSets, AdvancedStatefulSets cache.SharedIndexInformer

	// StateMetrics defaults to none.
	StateMetrics StateMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Distribution", "distribution", o.Distribution != nil)
	for _, custom := range o.Custom {
		whitelist.CheckKind(c, custom.Kind, custom.Resource, custom.Informer != nil || o.Dynamic != nil, "GameServerSet and gameserversets")
	}
}
