// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
)

// Options says what a Controller or a Reconciler works with. Lifecycle, Runtime and, for a Controller without Requests,
// Node are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Lifecycle reads ContainerRecreateRequests, and writes their status.
	Lifecycle client.Interface
	// Runtime is the container runtime of the node; nodeagent.Dial connects to it.
	Runtime *nodeagent.Runtime
	// Node is the name of the node. Not needed if Requests or Reader is set.
	Node string

	// Requests is an informer of the active requests of the node that the caller shares and runs; see NewRequestInformer.
	// Default: the controller makes and runs its own.
	Requests cache.SharedIndexInformer

	// MaxGracePeriod is the longest time that a container has to stop, whatever a
	// request asks for: a worker waits as long. Default 24 h.
	MaxGracePeriod time.Duration
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
	c.Runtime(o.Runtime != nil)
	c.That(o.Node != "" || o.Requests != nil || o.Reader != nil, "Options.Node is empty: it names the node of whose pods containers are recreated")
	c.That(o.MaxGracePeriod >= 0, "Options.MaxGracePeriod is negative: it is the longest time that a container has to stop, 0 means 24 h")
}
