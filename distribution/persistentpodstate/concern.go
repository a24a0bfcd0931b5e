// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// podChanged enqueues the PersistentPodStates of the workload that controls a pod, before the event or after it. Pods
// that are there at the start concern PersistentPodStates that are there too.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	for _, pod := range []*corev1.Pod{before, after} {
		if pod != nil {
			o.enqueueOf(pod, enqueue)
		}
	}
}

func (o *Options) enqueueOf(pod *corev1.Pod, enqueue controller.Enqueue) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return
	}
	if gv, err := schema.ParseGroupVersion(ref.APIVersion); err == nil {
		o.enqueueThose(pod.Namespace, enqueue, func(s *v1alpha1.PersistentPodState) bool {
			return podstate.Targets(s, schema.GroupKind{Group: gv.Group, Kind: ref.Kind}, ref.Name)
		})
	}
}

// enqueueThose enqueues those of the PersistentPodStates of a namespace, empty for all, that an event concerns.
func (o *Options) enqueueThose(namespace string, enqueue controller.Enqueue, concerned func(*v1alpha1.PersistentPodState) bool) {
	states, err := caches.All[*v1alpha1.PersistentPodState](o.Reader, resourceStates, namespace)
	if err != nil {
		return // the index is there since New
	}
	for _, s := range states {
		if concerned(s) {
			enqueue(types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
		}
	}
}

// nodeChanged enqueues the PersistentPodStates with pods that ran on a node, or in a required topology of the node, before
// the event or after it.
func (o *Options) nodeChanged(before, after *corev1.Node, enqueue controller.Enqueue) {
	o.enqueueThose("", enqueue, func(s *v1alpha1.PersistentPodState) bool {
		for _, node := range []*corev1.Node{before, after} {
			if node != nil && podstate.Concerns(s, node) {
				return true
			}
		}
		return false
	})
}

// workloadChanged enqueues the PersistentPodStates that name a workload, and the one that it asks for or has asked for.
func (o *Options) workloadChanged(e controller.Event, enqueue controller.Enqueue) {
	before, after := workloadIn(e.Before), workloadIn(e.After)
	if before != nil && after != nil && sameWorkload(before, after) {
		return
	}
	for _, w := range []*podstate.Workload{before, after} {
		if w == nil {
			continue
		}
		if asks(w) {
			enqueue(types.NamespacedName{Namespace: w.Namespace, Name: w.Name})
		}
		o.enqueueThose(w.Namespace, enqueue, func(s *v1alpha1.PersistentPodState) bool { return podstate.Targets(s, w.GroupKind(), w.Name) })
	}
}

// workloadIn is the workload of an event; nil if it is not there.
func workloadIn(object metav1.Object) *podstate.Workload {
	if object == nil {
		return nil
	}
	return workloadOf(object)
}
