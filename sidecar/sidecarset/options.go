// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Sidecar are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about SidecarSets and pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads namespaces, and reads and writes pods and revisions.
	Kubernetes kubernetes.Interface
	// Sidecar reads and writes SidecarSets.
	Sidecar client.Interface

	// ManagerNamespace is that of the manager, with the revisions of all SidecarSets. Default: DefaultRevisionNamespace.
	ManagerNamespace string
	// SidecarSets, Pods, Namespaces and Revisions, at least those of ManagerNamespace with the label
	// v1alpha1.SidecarSetNameLabel, are shared informers, see ControllerOptions.
	SidecarSets, Pods, Namespaces, Revisions cache.SharedIndexInformer

	// Policies says that a controller of package sidecar/policies has the API server inject:
	// the status of a SidecarSet then says if no policy can. Default: false.
	Policies bool

	// Injection switches what differs between releases of how SidecarSets inject. Webhook and Injector need the same.
	Injection injection.Features

	// Budget is asked before an update takes a pod out of service. Default nil: every update is allowed.
	Budget Budget

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// SetMetrics defaults to none.
	SetMetrics SetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Sidecar", "sidecar", o.Sidecar != nil)
}
