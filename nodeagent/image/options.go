// SPDX-License-Identifier: Apache-2.0

package image

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// EventSource is the component under which the feature's events have always
// been reported: Options.Recorder should have it, and the node as its host.
const EventSource = v1alpha1.ImagePullAgentEventSource

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

	// NodeImages is an informer that the caller shares and runs; see
	// NewInformer. Default: the controller makes and runs its own.
	NodeImages cache.SharedIndexInformer
	// Wake is called by a Reconciler whenever an attempt to pull has ended, so
	// that the caller enqueues the NodeImage. Required there; a Controller ignores it.
	Wake func(types.NamespacedName)

	// Concurrency is the number of images that are pulled at the same time. The namespaces of those who own the tasks take
	// turns. One of which nothing is pulled may have one image pulled beyond this number, as long as there are not twice
	// as many. So no namespace waits for the registry of others. Default 5.
	Concurrency int
	// Limits bounds what tasks ask for.
	Limits Limits
	// Filter says what may be pulled.
	Filter Filter
	// ReadSourceSecrets has the agent read pull secrets in the namespaces of jobs, too. Tasks refer to them there if the
	// manager is an OpenKruise before 1.8, or has imagepulljob.Options.ReferToSourceSecrets. The agent must then be
	// allowed to read every secret of the cluster by its name, on every node. Default false: it reads secrets in
	// v1alpha1.DaemonConfigNamespace alone, into which the manager copies those that jobs name.
	ReadSourceSecrets bool
	// Credentials finds credentials of the node. They count for all tasks, after all others. Default nil: none.
	Credentials Credentials
	// DockerConfig is a file with the node's own credentials, in the format of Docker's config.json. They count for all
	// tasks, after those of their secrets. It is read at every attempt, and may be missing. Default: none.
	DockerConfig string
}

// defaultConcurrency is the default of Options.Concurrency.
const defaultConcurrency = 5

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Distribution", "distribution", o.Distribution != nil)
	c.That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset to read secrets with, kubernetes.NewForConfig makes one")
	c.That(c.OfReconciler || o.Node != "", "Options.Node is empty: it names the node for which to pull")
	c.That(!c.OfReconciler || o.Wake != nil, "Options.Wake is nil: a Reconciler calls it when a pull has ended")
	c.That(o.Runtime != nil, "Options.Runtime is nil: it needs the container runtime of the node, nodeagent.Dial connects to it")
	c.That(o.Concurrency >= 0, "Options.Concurrency is negative: it is the number of images that are pulled at the same time, 0 means 5")
	o.Limits.check(c)
	if err := o.Filter.Validate(); err != nil {
		c.That(false, "Options."+err.Error())
	}
}
