// SPDX-License-Identifier: Apache-2.0

package image

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// Options says what a Controller or a Reconciler works with. Distribution, Kubernetes, Runtime and, for a Controller, Node
// are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about the NodeImage, and about the owners of its tasks. Default: that of Recorders.
	Recorder record.EventRecorder
	// Distribution reads the NodeImage of the node, and writes its status.
	Distribution client.Interface
	// Kubernetes reads the secrets that tasks refer to, one by one.
	Kubernetes kubernetes.Interface
	// Runtime is the container runtime of the node; nodeagent.Dial connects to it.
	Runtime *nodeagent.Runtime
	// Node is the name of the node, which is that of its NodeImage.
	Node string
	// NodeImages is an informer that the caller shares and runs, see NewInformer. Default: the controller makes and runs its own.
	NodeImages cache.SharedIndexInformer
	// Wake has the caller of a Reconciler enqueue the NodeImage when an attempt to pull has ended. Required there; a Controller ignores it.
	Wake func(types.NamespacedName)

	// Concurrency is the number of images that are pulled at the same time. Namespaces take turns, and one may wait no longer for
	// the registry of another: so there may be up to twice as many. Default 5. (IMG-3.6)
	Concurrency int
	// Limits bounds what tasks ask for, and Filter says what may be pulled.
	Limits Limits
	Filter Filter
	// ReadSourceSecrets has the agent read pull secrets in the namespaces of jobs, too: for a manager that is an OpenKruise before
	// 1.8, or has imagepulljob.Options.ReferToSourceSecrets. Default false: in v1alpha1.DaemonConfigNamespace alone. (IMG-3.11)
	ReadSourceSecrets bool
	// DockerConfig is a file with credentials of the node, in the format of Docker's config.json. Every attempt reads it, and it may
	// be missing. Credentials finds more. They count for all tasks, after those of their secrets. Default: none. (IMG-3.12)
	DockerConfig string
	Credentials  Credentials
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Distribution", "distribution", o.Distribution != nil)
	c.That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset to read secrets with, kubernetes.NewForConfig makes one")
	c.That(c.OfReconciler || o.Node != "", "Options.Node is empty: it names the node for which to pull")
	c.That(!c.OfReconciler || o.Wake != nil, "Options.Wake is nil: a Reconciler calls it when a pull has ended")
	c.Runtime(o.Runtime != nil)
	c.That(o.Concurrency >= 0, "Options.Concurrency is negative: it is the number of images that are pulled at the same time, 0 means 5")
	o.Limits.check(c)
	c.Problem("", o.Filter.Validate())
}
