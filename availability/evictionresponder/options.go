// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// ResponderName is the name under which pods are registered with this responder, in their
// spec.evictionResponders. ResponderPriority is the priority that Kubernetes asks of the one that
// speaks for the workload of a pod.
const (
	ResponderName           = "podwright.io/workload"
	ResponderPriority int32 = 10000
)

// DefaultRoomTimeout is how long a pod waits for room by default.
const DefaultRoomTimeout = 10 * time.Minute

// Options says what a Controller or a Reconciler works with. Kubernetes and EvictionClient are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about pods whose eviction is refused by something other than a budget. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes evicts pods, notes on them that they are to go, and reads them.
	Kubernetes kubernetes.Interface
	// EvictionClient reads Evictions and reports in their status. They must be served, see Served.
	EvictionClient *Client
	// Workloads reads CloneSets, which must be served. Default nil: no pod waits for room before it is
	// evicted, unless the informer is given.
	Workloads workloadsclient.Interface

	// RoomTimeout is how long a pod of a CloneSet waits for room, from the time on at which this
	// responder became active. After that it is evicted all the same, if its budgets allow it.
	// Default DefaultRoomTimeout. (EVR-6)
	RoomTimeout time.Duration

	// Evictions, Pods and CloneSets are shared informers, see ControllerOptions.
	Evictions, Pods, CloneSets cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).
		That(o.EvictionClient != nil, "Options.EvictionClient is nil: it needs a client of Evictions, NewClient makes one").
		That(o.RoomTimeout >= 0, "Options.RoomTimeout is negative: it is how long a pod waits for room, 0 means 10 minutes")
}
