// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// StateMetrics receives what is recorded of pods. Implementations must be safe for use by
// several goroutines.
type StateMetrics interface {
	// Counted is called whenever the status of a PersistentPodState was computed. It gets the status, which it must not
	// change, and how many pods' states do not fit.
	Counted(namespace, name string, status *v1alpha1.PersistentPodStateStatus, refused int)
	// Replaced is called with the number of pods that were deleted since they waited for a node that does not exist.
	Replaced(namespace, name string, pods int)
	// Gone is called when a PersistentPodState no longer exists.
	Gone(namespace, name string)
}

// CustomKind is a kind of the white list, whose pods have names and ordinals as those of a StatefulSet. (PPS-2)
type CustomKind struct {
	// Kind is the kind, Resource the plural name by which the API server serves it. Both are required.
	Kind     schema.GroupVersionKind
	Resource string
	// Informer is one of its objects, as *unstructured.Unstructured, which the caller shares and runs. Default nil: the
	// controller makes and runs its own, of Options.Dynamic.
	Informer cache.SharedIndexInformer
}

// Options says what a Controller or a Reconciler works with. Kubernetes and Distribution are
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about PersistentPodStates, their pods and their workloads. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, nodes and StatefulSets, and deletes pods that wait for a node that does not exist.
	Kubernetes kubernetes.Interface
	// Distribution reads and writes PersistentPodStates.
	Distribution client.Interface
	// Workloads reads Advanced StatefulSets (v1beta1), which must be served. Default nil: their pods are not recorded, unless
	// the informer is given.
	Workloads workloadsclient.Interface
	// Custom are further kinds, whose pods are recorded as well. What the API server does not serve must not be among
	// them. Default: none.
	Custom []CustomKind
	// Dynamic reads those of them that have no informer. Required if there are any.
	Dynamic dynamic.Interface

	// These are informers that the caller shares and runs. If one is nil, the controller
	// makes and runs its own, whose objects it keeps small.
	States, Pods, Nodes cache.SharedIndexInformer
	// StatefulSets and AdvancedStatefulSets (v1beta1) are such informers, too.
	StatefulSets, AdvancedStatefulSets cache.SharedIndexInformer

	// StateMetrics defaults to none.
	StateMetrics StateMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Distribution", "distribution", o.Distribution != nil)
	for i := range o.Custom {
		custom := &o.Custom[i]
		c.That(custom.Kind.Kind != "" && custom.Resource != "", "Options.Custom has an entry without Kind or Resource: give both, such as GameServerSet and gameserversets").
			That(custom.Informer != nil || o.Dynamic != nil, "Options.Dynamic is nil: it is needed to read the "+custom.Resource+" of Options.Custom, which have no Informer")
	}
}

// noMetrics measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(string, string, *v1alpha1.PersistentPodStateStatus, int) {}

func (noMetrics) Replaced(string, string, int) {}

func (noMetrics) Gone(string, string) {}
