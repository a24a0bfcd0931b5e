// SPDX-License-Identifier: Apache-2.0

package workloadspread

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
	// Recorder receives events about WorkloadSpreads. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, their nodes and the workloads that control them, and writes pods.
	Kubernetes kubernetes.Interface
	// Distribution reads WorkloadSpreads and writes their status.
	Distribution client.Interface
	// Workloads reads CloneSets and Advanced StatefulSets (v1beta1). Both kinds must be served. Default nil:
	// WorkloadSpreads of such workloads are reported as failures, unless the informers are given.
	Workloads workloadsclient.Interface
	// Custom are further kinds of workloads, which the API server must serve. CustomKinds finds those of a white list.
	// Dynamic reads those that have no informer, and is required if there are any. Default: none. (WS-35)
	Custom  []CustomKind
	Dynamic dynamic.Interface
	// ConfigNamespace has a Placer find Custom itself by the white list in this namespace. It needs Dynamic. New ignores it.
	ConfigNamespace string

	// These are shared informers, see ControllerOptions. AdvancedStatefulSets are those of v1beta1.
	Spreads, Pods, Nodes, Deployments, ReplicaSets, StatefulSets, Jobs, CloneSets, AdvancedStatefulSets cache.SharedIndexInformer
	// NoNodes says not to read nodes: pods that were there before a WorkloadSpread get no subset then. Default: they do.
	NoNodes bool

	// PlacedByWorkloads has the webhook leave pods to controllers of the group apps.kruise.io, which place them by PlacePod as
	// they create them. Default: the Placer places them as well. New ignores it. (WS-26)
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
	for _, custom := range o.Custom {
		whitelist.CheckKind(c, custom.Kind, custom.Resource, custom.Informer != nil || o.Dynamic != nil, "Rollout and rollouts")
	}
}
