// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/nodeagent"
)

// Options says what a Controller or a Reconciler works with. Kubernetes, Runtime and, for a Controller without Pods, Node
// are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, and writes their annotations.
	Kubernetes kubernetes.Interface
	// Runtime is the container runtime of the node; nodeagent.Dial connects to it.
	Runtime *nodeagent.Runtime
	// Node is the name of the node. Not needed if Pods or Reader is set.
	Node string

	// Pods is an informer of the pods of the node that the caller shares and runs, see nodeagent.NewPodInformer. Default: the
	// controller makes and runs its own. PodsOfKubelet says that Pods, or Reader, does not read the API server but the
	// kubelet of the node. Then Rules has no rule to list and watch pods.
	Pods          cache.SharedIndexInformer
	PodsOfKubelet bool

	// RestartWorkers is the number of pods of which containers are being stopped at the same time. One namespace gets three quarters
	// of what the others leave. Default 10; a Reconciler in another framework knows of no limit if it is 0. (CM-6)
	RestartWorkers int
	// MaxGracePeriod is the longest time that a container has to stop, whatever its pod asks for. Default 24 h.
	MaxGracePeriod time.Duration

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).Runtime(o.Runtime != nil)
	c.That(o.Node != "" || o.Pods != nil || o.Reader != nil, "Options.Node is empty: it names the node of which pods are reported")
	c.That(!o.PodsOfKubelet || o.Pods != nil || o.Reader != nil, "Options.PodsOfKubelet needs Pods or Reader: by itself the controller reads the API server")
	c.That(o.RestartWorkers >= 0, "Options.RestartWorkers is negative: it is the number of pods of which containers are stopped at the same time, 0 means 10")
	c.That(o.MaxGracePeriod >= 0, "Options.MaxGracePeriod is negative: it is the longest time that a container has to stop, 0 means 24 h")
}
