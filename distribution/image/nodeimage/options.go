// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
)

// Options says what a Controller or a Reconciler works with. Distribution and
// Kubernetes are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about NodeImages and about the jobs that own
	// their tasks. Default: that of Recorders.
	Recorder record.EventRecorder

	// Distribution reads and writes NodeImages, and reads ImagePullJobs.
	Distribution client.Interface
	// Kubernetes reads nodes and, with PullPods, writes pods.
	Kubernetes kubernetes.Interface

	// NodeImages, Nodes and ImagePullJobs (those of all namespaces) are shared informers, see ControllerOptions.
	NodeImages, Nodes, ImagePullJobs cache.SharedIndexInformer

	// PullPods has the kubelets of nodes pull, in place of agents, which must not do so
	// then. Default nil: agents pull.
	PullPods *PullPods
	// Pods is such an informer of the pods with the label v1alpha1.PullPodLabel, or of all pods, of all
	// namespaces. It is read with PullPods.
	Pods cache.SharedIndexInformer

	// Timing says how long to wait for what.
	Timing Timing
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Distribution", "distribution", o.Distribution != nil)
	c.That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset to read nodes with, kubernetes.NewForConfig makes one")
	c.That(o.Timing.ResponseTimeout >= 0, "Options.Timing.ResponseTimeout is negative: it is how long an agent may be silent about a task, 0 means a minute")
	if o.PullPods != nil {
		c.That(o.PullPods.PauseImage != "", "Options.PullPods.PauseImage is empty: it is what runs in the pods that have images pulled, such as registry.k8s.io/pause:3.10")
		c.That(o.PullPods.PerNamespace >= 0, "Options.PullPods.PerNamespace is negative: it is the number of pods that a namespace may have pull on a node at the same time, 0 means 5")
		if o.Kubernetes != nil {
			err := apiwriter.CheckClient(o.Kubernetes)
			c.That(err == nil, fmt.Sprintf("Options.Kubernetes: %v", err))
		}
	}
}
