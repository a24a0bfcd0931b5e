// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// SubsetMetrics receives the state of subsets. Implementations must be safe for use by
// several goroutines.
type SubsetMetrics interface {
	// Subsets is called in each reconcile of a UnitedDeployment with the state of its subsets,
	// in the order of the topology; with none where it is gone.
	Subsets(of types.NamespacedName, subsets []SubsetState)
}

// SubsetState is the state of a subset: how many pods it is to have, has, and has ready.
type SubsetState struct {
	Name                    string
	Wanted, Replicas, Ready int32
}

// noMetrics is SubsetMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Subsets(types.NamespacedName, []SubsetState) {}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads and writes StatefulSets, Deployments and revisions, and reads and
	// deletes pods.
	Kubernetes kubernetes.Interface
	// Workloads reads UnitedDeployments and writes their status, and reads and writes
	// CloneSets and Advanced StatefulSets.
	Workloads client.Interface

	// Without lists kinds of templates that are not to be used, for API servers that do not
	// serve their workloads: such workloads are not watched, and a UnitedDeployment with such
	// a template creates nothing. Default: all are used.
	Without []TemplateKind
	// Namespace restricts the informers that the controller makes itself.
	// Default: all namespaces.
	Namespace string
	// UnitedDeployments, StatefulSets (of apps/v1), AdvancedStatefulSets, CloneSets,
	// Deployments, Revisions and Pods are informers that the caller shares and runs. The
	// controller adds indexes to them, so they must not have been started before New. Where
	// one is nil, the controller makes and runs its own.
	UnitedDeployments, StatefulSets, AdvancedStatefulSets, CloneSets, Deployments, Revisions, Pods cache.SharedIndexInformer

	// AdaptiveScheduling reads what OpenKruise has since its release 1.5: minReplicas and
	// maxReplicas of subsets, and the schedule strategy, by which other subsets run what a
	// subset cannot schedule. Default false: these fields have no effect. (UD-20, UD-21)
	AdaptiveScheduling bool

	// Recorder receives events about UnitedDeployments. Default nil: no events.
	Recorder record.EventRecorder

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see
	// podwright.Caches): what was written before is perhaps done again there. Default
	// false: Reconcile returns an error.
	AllowStaleReads bool

	// Workers is the number of UnitedDeployments reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Metrics, SubsetMetrics, and QueueMetrics of the work queue, default to none.
	Metrics       Metrics
	SubsetMetrics SubsetMetrics
	QueueMetrics  workqueue.MetricsProvider
}

func (o *Options) validate() error {
	checks := controller.Check("uniteddeployment").Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).Workers(o.Workers, "UnitedDeployments", 3)
	for _, kind := range o.Without {
		checks.That(has(kinds, kind), fmt.Sprintf("Options.Without names %q, which is no kind of template: want some of %v", kind, kinds))
	}
	return checks.Err()
}

// statefulSets and deployments are clients of Kubernetes' own kinds.

func (o *Options) statefulSets(namespace string) appsv1client.StatefulSetInterface {
	return o.Kubernetes.AppsV1().StatefulSets(namespace)
}

func (o *Options) deployments(namespace string) appsv1client.DeploymentInterface {
	return o.Kubernetes.AppsV1().Deployments(namespace)
}
