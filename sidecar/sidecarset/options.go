// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SetMetrics receives how far SidecarSets have come. Implementations must be safe
// for use by several goroutines.
type SetMetrics interface {
	// Counted is called in every reconcile of a SidecarSet with its status, which the
	// implementation must not change. NotInjected is how many pods it selects that were created
	// without its containers.
	Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int)
	// Gone is called when a SidecarSet does not exist any more.
	Gone(set string)
}

// noMetrics is SetMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(string, *v1alpha1.SidecarSetStatus, int) {}
func (noMetrics) Gone(string)                                     {}

// Budget is asked before an update of a pod, about one pod at a time. After it has refused one, it
// is only asked about pods whose annotation kruise.io/related-pub names another budget, and about
// pods that are not ready. The update may repair the latter. It is the same as the Budget of
// package workloads. (SCS-26, CT-10)
type Budget interface {
	// AllowUpdate tells whether the pod may become unavailable now. A refused
	// pod is asked about again a second later. An error allows nothing, also for
	// the other pods, and is reported as that of the update.
	AllowUpdate(ctx context.Context, pod *corev1.Pod) (bool, error)
}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Sidecar are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about SidecarSets and pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads namespaces, and reads and writes pods and revisions. The controller
	// limits its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Sidecar reads and writes SidecarSets.
	Sidecar client.Interface

	// ManagerNamespace is that of the manager, with the revisions of all SidecarSets. Default:
	// DefaultRevisionNamespace.
	ManagerNamespace string
	// SidecarSets, Pods, Namespaces and Revisions, at least those of ManagerNamespace with the
	// label v1alpha1.SidecarSetNameLabel, are informers that the caller shares and runs.
	// New adds indexes to them, so they must not have been started before. If one is
	// nil, the controller makes and runs its own, whose objects it keeps small.
	SidecarSets, Pods, Namespaces, Revisions cache.SharedIndexInformer

	// Policies says that a controller of package sidecar/policies has the API server inject:
	// the status of a SidecarSet then says if no policy can. Default: false.
	Policies bool

	// Injection switches what differs between releases of how SidecarSets inject. Webhook and Injector need the same.
	Injection injection.Features

	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget Budget

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// SetMetrics defaults to none.
	SetMetrics SetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Sidecar", "sidecar", o.Sidecar != nil)
}
