// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"cmp"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Sidecar are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about SidecarSets. Default: that of Recorders.
	Recorder record.EventRecorder
	// Kubernetes reads revisions, and reads and writes policies and their bindings.
	Kubernetes kubernetes.Interface
	// Sidecar reads SidecarSets.
	Sidecar client.Interface
	// FailurePolicy is what becomes of a pod of which a policy can make nothing, because of what stands in its
	// annotations, for example. Default Fail: it is refused, as a webhook would. Ignore: it is created without sidecars.
	FailurePolicy admissionregistrationv1.FailurePolicyType

	// Webhook says that a webhook injects beside the policies: pods that are too large for a policy are left to it. Default
	// false: they are refused, as FailurePolicy says. (SCP-11)
	Webhook bool
	// Injection switches what differs between releases of how SidecarSets inject. Their controller needs the same.
	Injection injection.Features
	// ManagerNamespace is the namespace of the revisions of SidecarSets. Default: sidecarset.DefaultRevisionNamespace.
	ManagerNamespace string
	// SidecarSets, Revisions, Policies and Bindings are shared informers, see ControllerOptions; that of revisions
	// may be of Namespace alone.
	SidecarSets, Revisions, Policies, Bindings cache.SharedIndexInformer
	// Discovery tells whether policies are served. Default: that of Kubernetes.
	Discovery discovery.ServerResourcesInterface
}

func (o *Options) namespace() string {
	return cmp.Or(o.ManagerNamespace, sidecarset.DefaultRevisionNamespace)
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Sidecar", "sidecar", o.Sidecar != nil)
	known := []admissionregistrationv1.FailurePolicyType{"", admissionregistrationv1.Fail, admissionregistrationv1.Ignore}
	c.That(slices.Contains(known, o.FailurePolicy), fmt.Sprintf("Options.FailurePolicy is %q: want Fail or Ignore", o.FailurePolicy))
}
