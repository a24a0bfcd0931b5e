// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// SpreadMetrics receives how the pods of each workload are spread. Implementations must be safe for
// use by several goroutines.
type SpreadMetrics interface {
	// Counted is called with the status of a WorkloadSpread whenever it was computed.
	Counted(namespace, spread string, status *v1alpha1.WorkloadSpreadStatus)
	// Gone is called when a WorkloadSpread no longer exists.
	Gone(namespace, spread string)
}

// Options says what a Controller or a Reconciler works with. Kubernetes and Distribution are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about WorkloadSpreads. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, their nodes and the workloads that control them, and writes pods.
	Kubernetes kubernetes.Interface
	// Distribution reads WorkloadSpreads and writes their status.
	Distribution client.Interface
	// Workloads reads CloneSets and Advanced StatefulSets (v1beta1). Both kinds must be
	// served. Default nil: WorkloadSpreads of such workloads are reported as failures, unless the
	// informers are given.
	Workloads workloadsclient.Interface

	// Custom are further kinds of workloads, which the API server must serve. CustomKinds finds those of a white list.
	// Default: none. (WS-35)
	Custom []CustomKind
	// Dynamic reads those of them that have no informer. Required if there are any.
	Dynamic dynamic.Interface
	// ConfigNamespace has a Placer find Custom itself once there is a WorkloadSpread, by the white list in this namespace.
	// It needs Dynamic. Default: it takes Custom. New ignores it.
	ConfigNamespace string

	// These are informers that the caller shares and runs. If one is nil, the controller
	// makes and runs its own, whose objects it keeps small.
	Spreads, Pods, Nodes cache.SharedIndexInformer
	// The same holds for the workloads: Deployments, ReplicaSets, StatefulSets, Jobs, CloneSets and
	// AdvancedStatefulSets (v1beta1).
	Deployments, ReplicaSets, StatefulSets, Jobs cache.SharedIndexInformer
	CloneSets, AdvancedStatefulSets              cache.SharedIndexInformer
	// NoNodes says not to read nodes: pods that were there before a WorkloadSpread get no
	// subset then. Default: they do.
	NoNodes bool

	// PlacedByWorkloads has a Placer leave pods alone, in the webhook, whose controllers are of the group
	// apps.kruise.io. These controllers place their pods as they create them, by PlacePod. Default: it places them
	// as well. New ignores it. (WS-26)
	PlacedByWorkloads bool

	// Alone says that no other Placer answers webhooks about the same pods: what Mutate decides is kept in memory alone. Default:
	// it is written into the status before, with one request for all pods that are asked about meanwhile. New ignores it. (WS-7.2)
	Alone bool

	// SpreadMetrics defaults to none.
	SpreadMetrics SpreadMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Distribution", "distribution", o.Distribution != nil).
		That(o.ConfigNamespace == "" || o.Dynamic != nil, "Options.Dynamic is nil: it is needed to read the kinds of the white list in Options.ConfigNamespace")
	for i := range o.Custom {
		custom := &o.Custom[i]
		c.That(custom.Kind.Kind != "" && custom.Resource != "", "Options.Custom has an entry without Kind or Resource: give both, such as Rollout and rollouts").
			That(custom.Informer != nil || o.Dynamic != nil, "Options.Dynamic is nil: it is needed to read the "+custom.Resource+" of Options.Custom, which have no Informer")
	}
}

// noMetrics measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(string, string, *v1alpha1.WorkloadSpreadStatus) {}

func (noMetrics) Gone(string, string) {}
