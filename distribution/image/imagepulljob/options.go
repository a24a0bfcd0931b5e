// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Distribution and
// Kubernetes are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about ImagePullJobs: what of them the API server refuses. Default: that of Recorders.
	Recorder record.EventRecorder

	// Distribution reads and writes ImagePullJobs and NodeImages.
	Distribution client.Interface
	// Kubernetes reads pods, and the pull secrets that jobs name, which it copies to
	// the namespace v1alpha1.DaemonConfigNamespace.
	Kubernetes kubernetes.Interface
	// ReferToSourceSecrets copies no pull secrets: tasks refer to them in the namespaces of the jobs. The agents of nodes
	// must be allowed to read any secret of the cluster there. Those of OpenKruise before 1.8 are allowed to, and those of
	// podwright with image.Options.ReadSourceSecrets. The option is for a cluster in which another manager may lead that
	// knows of no copies. It is also for one in which kubelets pull (see nodeimage.PullPods), so that no agent reads them.
	// Default false.
	ReferToSourceSecrets bool
	// TTLReserve is how much longer than its job's time to live a finished task stays on a node, in whole seconds. It is for
	// jobs of the type Always. Default: 5 minutes. (IMG-1.4)
	TTLReserve time.Duration
	// Workloads reads CloneSets and Advanced StatefulSets. The nodes of a job that one of them controls are
	// taken in the order in which it updates its pods. Both kinds must be served. Default nil: such
	// nodes are taken in the order of the names of the pods, unless the informers are given.
	Workloads workloadsclient.Interface

	// ImagePullJobs, NodeImages, Pods, CloneSets and AdvancedStatefulSets are shared informers, see ControllerOptions.
	ImagePullJobs, NodeImages, Pods, CloneSets, AdvancedStatefulSets cache.SharedIndexInformer
	// Copies is such an informer of the secrets in v1alpha1.DaemonConfigNamespace.
	Copies cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.KindClient("Distribution", "distribution", o.Distribution != nil)
	c.That(o.TTLReserve >= 0, "Options.TTLReserve is negative: it is how much longer a finished task stays, 0 means 5 minutes")
	c.That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset to read pods with, and to copy pull secrets, kubernetes.NewForConfig makes one")
}
