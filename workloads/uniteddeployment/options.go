// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// SubsetMetrics receives the state of subsets. Implementations must be safe for use by
// several goroutines.
type SubsetMetrics interface {
	// Subsets is called in each reconcile of a UnitedDeployment with the state of its subsets,
	// in the order of the topology. It gets none if the UnitedDeployment is gone.
	Subsets(of types.NamespacedName, subsets []SubsetState)
}

// SubsetState is the state of a subset: how many pods it is to have, has, and has ready.
type SubsetState struct {
	// Name is that of the subset.
	Name string
	// Wanted, Replicas and Ready count pods: those that the subset is to have, has, and has ready.
	Wanted, Replicas, Ready int32
}

// noMetrics is SubsetMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Subsets(types.NamespacedName, []SubsetState) {}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about UnitedDeployments. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads and writes StatefulSets, Deployments and revisions, and reads and
	// deletes pods.
	Kubernetes kubernetes.Interface
	// Workloads reads UnitedDeployments and writes their status, and reads and writes
	// CloneSets and Advanced StatefulSets.
	Workloads client.Interface

	// Without lists kinds of templates that are not to be used, for API servers that do not
	// serve their workloads. Such workloads are not watched, and a UnitedDeployment with such
	// a template creates nothing. Default: all are used.
	Without []TemplateKind
	// UnitedDeployments, StatefulSets (of apps/v1), AdvancedStatefulSets, CloneSets,
	// Deployments, Revisions and Pods are informers that the caller shares and runs. The
	// controller adds indexes to them, so they must not have been started before New. If
	// one is nil, the controller makes and runs its own.
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

// statefulSets and deployments are clients of Kubernetes' own kinds.

func (o *Options) statefulSets(namespace string) appsv1client.StatefulSetInterface {
	return o.Kubernetes.AppsV1().StatefulSets(namespace)
}

func (o *Options) deployments(namespace string) appsv1client.DeploymentInterface {
	return o.Kubernetes.AppsV1().Deployments(namespace)
}
