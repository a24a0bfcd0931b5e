// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/nodeagent"
)

// Options says what a Controller or a Reconciler works with. Lifecycle, Runtime and, for a
// Controller, Node are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about the pods whose state has changed. Default: that of Recorders.
	Recorder record.EventRecorder

	// Lifecycle reads the NodePodProbe of the node, and writes its status.
	Lifecycle client.Interface
	// Runtime is the container runtime of the node; nodeagent.Dial connects to it.
	Runtime *nodeagent.Runtime
	// Node is the name of the node, which is that of its NodePodProbe.
	Node string

	// NodePodProbes is an informer that the caller shares and runs; see
	// NewInformer. Default: the controller makes and runs its own.
	NodePodProbes cache.SharedIndexInformer
	// Wake is called by a Reconciler whenever a run of a probe has ended, so
	// that the caller enqueues the NodePodProbe. Required there; a Controller ignores it.
	Wake func(types.NamespacedName)

	// Limits bounds what the agent does for all markers together.
	Limits Limits

	// ProbeMetrics defaults to none.
	ProbeMetrics ProbeMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
	c.That(c.OfReconciler || o.Node != "", "Options.Node is empty: it names the node whose pods to probe")
	c.That(!c.OfReconciler || o.Wake != nil, "Options.Wake is nil: a Reconciler calls it when a run has ended")
	c.Runtime(o.Runtime != nil)
	o.Limits.check(c)
}
