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

// TargetMetrics receives how many namespaces have their copies. Implementations must be
// safe for use by several goroutines.
type TargetMetrics interface {
	// Counted is called in every reconcile of a ResourceDistribution with the numbers of
	// namespaces that have a copy, and that do not.
	Counted(distribution string, succeeded, failed int)
	// Gone is called for a ResourceDistribution that no longer exists.
	Gone(distribution string)
}

// Options says what a Controller or a Reconciler works with. Distribution and
// Kubernetes are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about ResourceDistributions. Default: that of Recorders.
	Recorder record.EventRecorder

	// Distribution reads ResourceDistributions and writes their status.
	Distribution client.Interface
	// Kubernetes reads namespaces, and reads and writes Secrets and ConfigMaps. The
	// controller limits its own parallelism; a client-side rate limit (QPS) only slows it
	// down.
	Kubernetes kubernetes.Interface

	// Distributions and Namespaces are informers that the caller shares and runs. If one is
	// nil, the controller makes and runs its own.
	Distributions, Namespaces cache.SharedIndexInformer
	// Secrets and ConfigMaps are such informers, of all or of those that have the label
	// v1alpha1.ResourceCopyLabel. The controller adds an index to them, so they must not
	// have been started before New. If one is nil, the controller makes and runs its
	// own, which holds copies alone, and of each no more than a plan reads.
	Secrets, ConfigMaps cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
	// SourceSecrets and SourceConfigMaps are informers of those that have that label. They
	// hold them whole. If one is nil and Features.Sources is true, the controller makes and runs its own.
	SourceSecrets, SourceConfigMaps cache.SharedIndexInformer

	// TargetMetrics defaults to none.
	TargetMetrics TargetMetrics
}

// Features are what a Controller can do otherwise.
type Features struct {
	// Sources reads spec.sourceRef: the copies have the content of a Secret or ConfigMap that it
	// names, as far as that has the label v1alpha1.ResourceSourceLabel. Default false: nothing is
	// done if it is set. The controller does not ask whether that is allowed. Turn it on only if
	// Webhook.Access is set, and no ResourceDistribution can be written without being asked about.
	// (RD-17, RD-18)
	Sources bool
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Distribution", "distribution", o.Distribution != nil)
}

// noMetrics is TargetMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(string, int, int) {}
func (noMetrics) Gone(string)              {}
