// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about UnitedDeployments. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads and writes StatefulSets, Deployments and revisions, and reads and deletes pods.
	Kubernetes kubernetes.Interface
	// Workloads reads UnitedDeployments and writes their status, and reads and writes CloneSets and Advanced StatefulSets.
	Workloads client.Interface

	// Without lists kinds of templates that are not to be used, for API servers that do not serve their workloads. Such
	// workloads are not watched, and a UnitedDeployment with such a template creates nothing. Default: all are used.
	Without []TemplateKind
	// UnitedDeployments, StatefulSets (of apps/v1), AdvancedStatefulSets, CloneSets, Deployments, Revisions and
	// Pods are shared informers, see ControllerOptions.
	UnitedDeployments, StatefulSets, AdvancedStatefulSets, CloneSets, Deployments, Revisions, Pods cache.SharedIndexInformer
	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// SubsetMetrics defaults to none.
	SubsetMetrics SubsetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil)
	for _, kind := range o.Without {
		c.That(has(kinds, kind), fmt.Sprintf("Options.Without names %q, which is no kind of template: want some of %v", kind, kinds))
	}
}
