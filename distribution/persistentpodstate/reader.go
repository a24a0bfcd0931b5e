// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler never
// changes it. Its methods are called by several goroutines. New makes one over
// informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// State returns a PersistentPodState, or an error for which apierrors.IsNotFound holds.
	State(namespace, name string) (*v1alpha1.PersistentPodState, error)
	// States returns the PersistentPodStates of a namespace, or of all if it is empty, in any order.
	States(namespace string) ([]*v1alpha1.PersistentPodState, error)
	// Pods returns the pods of the namespace that the UID controls, in any order.
	Pods(namespace string, owner types.UID) ([]*corev1.Pod, error)
	// Nodes returns all nodes, in any order.
	Nodes() ([]*corev1.Node, error)
	// Workload returns a workload, nil if there is none of that name. If known is false,
	// no cache has the kind.
	Workload(namespace string, kind schema.GroupKind, name string) (w *podstate.Workload, known bool, err error)
	// Kinds are those of which there is a cache, always in the same order.
	Kinds() []schema.GroupKind
}

// informerReader reads informers.
type informerReader struct {
	caches.Reader
	kinds     []schema.GroupKind
	resources map[schema.GroupKind]podwright.Resource
}

func (o *Options) newInformerReader(c caches.Reader) Reader {
	r := informerReader{Reader: c, resources: map[schema.GroupKind]podwright.Resource{}}
	for _, w := range o.workloads() {
		r.kinds = append(r.kinds, w.kind)
		r.resources[w.kind] = w.read.Resource
	}
	return r
}

func (r informerReader) State(namespace, name string) (*v1alpha1.PersistentPodState, error) {
	return caches.Get[*v1alpha1.PersistentPodState](r.Reader, resourceStates, namespace, name)
}

func (r informerReader) States(namespace string) ([]*v1alpha1.PersistentPodState, error) {
	return caches.List[*v1alpha1.PersistentPodState](r.Reader, resourceStates, namespace, labels.Everything())
}

func (r informerReader) Kinds() []schema.GroupKind { return r.kinds }

func (r informerReader) Workload(namespace string, kind schema.GroupKind, name string) (*podstate.Workload, bool, error) {
	resource, known := r.resources[kind]
	if !known {
		return nil, false, nil
	}
	object, err := caches.Get[metav1.Object](r.Reader, resource, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, true, nil
	}
	return workloadOf(object), true, err
}
