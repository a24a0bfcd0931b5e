// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and Availability are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about budgets and their pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods and the workloads that control them, and tells pods which budget protects them.
	Kubernetes kubernetes.Interface
	// Availability reads PodUnavailableBudgets and writes their status.
	Availability client.Interface
	// Workloads reads CloneSets and Advanced StatefulSets (v1beta1). Both kinds must be
	// served. Default nil: these are left to Scales, unless the informers are given.
	Workloads workloadsclient.Interface
	// Scales reads workloads of all other kinds, which have a scale subresource; NewScales makes one. Default nil: pods of
	// other kinds count with a selector, but nothing is wanted of them. A targetRef of another kind is reported as a
	// failure, and so are kinds for which it returns ErrNotRead. (PUB-23)
	Scales Scales

	// Features switches what differs between installations.
	Features Features
	// Mirror says whether PodDisruptionBudgets show budgets to autoscalers. Default MirrorNone.
	Mirror MirrorPolicy

	// These are shared informers, see ControllerOptions. CloneSets, AdvancedStatefulSets (of v1beta1) and PodDisruptionBudgets
	// are read if Workloads or Mirror ask for it.
	Budgets, Pods, Deployments, ReplicaSets, StatefulSets, ReplicationControllers cache.SharedIndexInformer
	CloneSets, AdvancedStatefulSets, PodDisruptionBudgets                         cache.SharedIndexInformer

	// BudgetMetrics defaults to none.
	BudgetMetrics BudgetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Availability", "availability", o.Availability != nil).
		Problem("Mirror is ", CheckMirrorPolicy(o.Mirror))
}
