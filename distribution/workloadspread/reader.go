// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/workload"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler never
// changes it. Its methods are called by several goroutines. New makes one over
// informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// Spread returns a WorkloadSpread, or an error for which apierrors.IsNotFound holds.
	Spread(namespace, name string) (*v1alpha1.WorkloadSpread, error)
	// Spreads returns the WorkloadSpreads of a namespace, in any order.
	Spreads(namespace string) ([]*v1alpha1.WorkloadSpread, error)
	// Workload returns a workload, nil if there is none of that name. If known is false,
	// no cache has the kind.
	Workload(namespace string, kind schema.GroupKind, name string) (w *Workload, known bool, err error)
	// Pods returns the pods that the UID controls, in any order.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// Node returns a node, or an error for which apierrors.IsNotFound holds.
	Node(name string) (*corev1.Node, error)
}

// informerReader reads informers.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) Spread(namespace, name string) (*v1alpha1.WorkloadSpread, error) {
	return caches.Get[*v1alpha1.WorkloadSpread](r.Reader, resourceSpreads, namespace, name)
}

func (r informerReader) Spreads(namespace string) ([]*v1alpha1.WorkloadSpread, error) {
	return caches.List[*v1alpha1.WorkloadSpread](r.Reader, resourceSpreads, namespace, labels.Everything())
}

func (r informerReader) Node(name string) (*corev1.Node, error) {
	return caches.Get[*corev1.Node](r.Reader, caches.Nodes, "", name)
}

func (r informerReader) Workload(namespace string, kind schema.GroupKind, name string) (*Workload, bool, error) {
	resource := resourceOf(kind)
	if _, known := r.Reader[resource]; !known {
		return nil, false, nil
	}
	object, err := caches.Get[any](r.Reader, resource, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	w := workloadOf(object)
	if err != nil || w == nil || kind != spread.Deployments {
		return w, true, err
	}
	replicaSets, err := caches.ControlledBy[*appsv1.ReplicaSet](r.Reader[resourceOf(workload.ReplicaSets)], w.UID)
	if err != nil {
		return nil, true, err
	}
	w.addReplicaSets(replicaSets)
	return w, true, nil
}
