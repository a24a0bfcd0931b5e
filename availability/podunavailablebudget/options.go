// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// BudgetMetrics receives what is left of each budget. Implementations must be safe for use by
// several goroutines.
type BudgetMetrics interface {
	// Counted is called with the status of a budget whenever it was computed.
	Counted(namespace, budget string, status *v1alpha1.PodUnavailableBudgetStatus)
	// Gone is called when a budget no longer exists.
	Gone(namespace, budget string)
}

// DecisionMetrics receives the answers of a Guard. Implementations must be safe for use by
// several goroutines.
type DecisionMetrics interface {
	// Decided is called with every answer about a pod that a budget protects, and how long it
	// took. Errors are left out, and so are pods that name a budget which is not there.
	Decided(namespace, budget string, operation v1alpha1.PubOperation, allowed bool, took time.Duration)
}

// MirrorPolicy says what becomes of the PodDisruptionBudgets that show budgets to autoscalers. (PUB-30)
type MirrorPolicy string

const (
	// MirrorNone leaves PodDisruptionBudgets alone: none is read or written.
	MirrorNone MirrorPolicy = ""
	// MirrorAnnotated keeps one for each budget that asks for it with
	// v1alpha1.PodDisruptionBudgetAnnotation.
	MirrorAnnotated MirrorPolicy = "Annotated"
	// MirrorRemove deletes those that were made. It is for the time before MirrorNone, with
	// which no controller would keep them up to date.
	MirrorRemove MirrorPolicy = "Remove"
)

// CheckMirrorPolicy returns an error for what is none of the constants.
func CheckMirrorPolicy(policy MirrorPolicy) error {
	switch policy {
	case MirrorNone, MirrorAnnotated, MirrorRemove:
		return nil
	}
	return fmt.Errorf("%q: want %q, %q or none", policy, MirrorAnnotated, MirrorRemove)
}

// Options says what a Controller or a Reconciler works with. Kubernetes and Availability are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about budgets and their pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods and the workloads that control them, and tells pods which
	// budget protects them.
	Kubernetes kubernetes.Interface
	// Availability reads PodUnavailableBudgets and writes their status.
	Availability client.Interface
	// Workloads reads CloneSets and Advanced StatefulSets (v1beta1). Both kinds must be
	// served. Default nil: these are left to Scales, unless the informers are given.
	Workloads workloadsclient.Interface
	// Scales reads workloads of all other kinds, which have a scale subresource; NewScales makes
	// one. Default nil: pods of other kinds count with a selector, but nothing is wanted of them. A
	// targetRef of another kind is reported as a failure, and so are kinds for which it returns
	// ErrNotRead. (PUB-23)
	Scales Scales

	// Features switches what differs between installations.
	Features Features
	// Mirror says whether PodDisruptionBudgets show budgets to autoscalers. Default MirrorNone.
	Mirror MirrorPolicy

	// These are informers that the caller shares and runs. If one is nil, the controller
	// makes and runs its own, whose objects it keeps small.
	Budgets, Pods cache.SharedIndexInformer
	// The same holds for the workloads: Deployments, ReplicaSets, StatefulSets, ReplicationControllers, CloneSets and
	// AdvancedStatefulSets (v1beta1).
	Deployments, ReplicaSets, StatefulSets, ReplicationControllers cache.SharedIndexInformer
	CloneSets, AdvancedStatefulSets                                cache.SharedIndexInformer
	// PodDisruptionBudgets is read unless Mirror is MirrorNone.
	PodDisruptionBudgets cache.SharedIndexInformer

	// BudgetMetrics defaults to none.
	BudgetMetrics BudgetMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Availability", "availability", o.Availability != nil).
		That(CheckMirrorPolicy(o.Mirror) == nil, fmt.Sprintf("Options.Mirror is %v", CheckMirrorPolicy(o.Mirror)))
}

// noMetrics measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(string, string, *v1alpha1.PodUnavailableBudgetStatus) {}

func (noMetrics) Gone(string, string) {}

func (noMetrics) Decided(string, string, v1alpha1.PubOperation, bool, time.Duration) {}
