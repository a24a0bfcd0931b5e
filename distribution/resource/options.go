// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
)

// Options says what a Controller or a Reconciler works with. Distribution and
// Kubernetes are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about ResourceDistributions. Default: that of Recorders.
	Recorder record.EventRecorder

	// Distribution reads ResourceDistributions and writes their status.
	Distribution client.Interface
	// Kubernetes reads namespaces, and reads and writes Secrets and ConfigMaps.
	Kubernetes kubernetes.Interface

	// Distributions and Namespaces are shared informers, see ControllerOptions.
	Distributions, Namespaces cache.SharedIndexInformer
	// Secrets and ConfigMaps are such informers, of all or of those that have the label
	// v1alpha1.ResourceCopyLabel. If one is nil, the controller makes and runs its own, which holds copies alone,
	// and of each no more than a plan reads.
	Secrets, ConfigMaps cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
	// SourceSecrets and SourceConfigMaps are informers of those that have that label. They
	// hold them whole. If one is nil and Features.Sources is true, the controller makes and runs its own.
	SourceSecrets, SourceConfigMaps cache.SharedIndexInformer

	// TargetMetrics defaults to none.
	TargetMetrics TargetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Distribution", "distribution", o.Distribution != nil)
}
