// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The caches that a Reconciler reads.
const (
	resourcePods     podwright.Resource = caches.Pods
	resourceNodes    podwright.Resource = caches.Nodes
	resourceRequests podwright.Resource = "containerrecreaterequests"
)

// podFields are the fields that the plan for a pod reads.
const podFields = controller.Phase | controller.Images | controller.Containers | controller.ContainerStates | controller.Waiting | controller.NodeName |
	controller.ContainersReady | controller.SidecarTerminated

// reads lists what the plan for a pod depends on. Nodes change their kind by being
// replaced, and pods with them.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(o.Kubernetes), Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
			Fields: podFields, Concern: controller.On(podChanged)},
		{Resource: resourceNodes, Object: &corev1.Node{}, Informer: &o.Nodes, MakeInformer: caches.NewInformers(o.Kubernetes, "").Nodes},
		{Resource: resourceRequests, Object: &lifecyclev1alpha1.ContainerRecreateRequest{}, LiveReader: apiwriter.Typed(o.Lifecycle.ContainerRecreateRequests), Informer: &o.Requests,
			MakeInformer: controller.Maker(client.NewContainerRecreateRequestInformer, o.Lifecycle, o.Namespace), Fields: controller.Status, Concern: controller.On(requestChanged)},
	}
}

// podChanged enqueues a pod whose plan may differ. (ST-4)
func podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	switch {
	case after == nil:
		if hasSidecars(before) { // what is remembered of it is forgotten
			enqueue(cache.MetaObjectToName(before).AsNamespacedName())
		}
	case hasSidecars(after) && mayChangePlan(before, after):
		enqueue(cache.MetaObjectToName(after).AsNamespacedName())
	}
}

// mayChangePlan tells whether a plan may differ after a change of a pod; before is nil for
// a new one. A pod that was given its phase goes on to matter while its request may come.
func mayChangePlan(before, after *corev1.Pod) bool {
	if before != nil && before.UID != after.UID {
		before = nil
	}
	return isDue(after) || isGiven(after) || before != nil && podstate.Ended(after) && !podstate.Ended(before)
}

// requestChanged enqueues the pod of a request whose plan may differ.
func requestChanged(before, after *lifecyclev1alpha1.ContainerRecreateRequest, enqueue controller.Enqueue) {
	if before != nil && after != nil && before.UID == after.UID && before.Status.CompletionTime.Equal(after.Status.CompletionTime) {
		return
	}
	for _, r := range []*lifecyclev1alpha1.ContainerRecreateRequest{before, after} {
		if key, ok := ofRequest(r); ok {
			enqueue(key)
			return
		}
	}
}

// ofRequest names the pod whose sidecars a request stops.
func ofRequest(r *lifecyclev1alpha1.ContainerRecreateRequest) (types.NamespacedName, bool) {
	if r == nil || !strings.HasPrefix(r.Name, v1alpha1.SidecarTerminationRequestPrefix) {
		return types.NamespacedName{}, false
	}
	by := metav1.GetControllerOfNoCopy(r)
	if by == nil || by.Kind != "Pod" || by.APIVersion != "v1" {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: r.Namespace, Name: by.Name}, true
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	writer    *apply.Writer
	creations apply.Creations
	acted     apiwriter.Last[types.UID] // pods for which something was written
	seen      apiwriter.Last[phaseSeen] // see Snapshot.PhaseSeen
}

// kind describes pods to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: func(s *Snapshot, resource podwright.Resource) func(string) bool {
			return func(name string) bool {
				return resource == resourcePods && s.Pod.Name == name || resource == resourceRequests && s.Request != nil && s.Request.Name == name
			}
		},
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.creations.Forget(key)
	r.acted.Forget(key)
	r.seen.Forget(key)
}

// phaseSeen is when the phase of a pod was first seen to be given.
type phaseSeen struct {
	pod types.UID
	at  time.Time
}

// sawPhase returns when the phase of a pod was first seen to be given, zero if it was not.
func (r *reconciler) sawPhase(key types.NamespacedName, pod *corev1.Pod, now time.Time) time.Time {
	if phaseGiven(pod) == nil {
		return time.Time{}
	}
	seen := r.seen.Get(key)
	if seen.pod != pod.UID {
		seen = phaseSeen{pod.UID, now}
		r.seen.Set(key, seen)
	}
	return seen.at
}

// observe reads everything that a plan for the pod depends on. It returns nil if
// there is no such pod, or none of its containers is marked as a sidecar. (ST-5)
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := caches.Object[corev1.Pod](r.options.Reader, resourcePods, "pod", key)
	if pod == nil || err != nil {
		return nil, err
	}
	if !hasSidecars(pod) {
		return nil, nil
	}
	s := &Snapshot{Pod: pod, LeavePhase: r.options.Features.LeavePhase, Now: r.options.Clock.Now()}
	s.PhaseSeen = r.sawPhase(key, pod, s.Now)
	if s.Node, err = apiwriter.Found(caches.Get[*corev1.Node](r.options.Reader, resourceNodes, "", pod.Spec.NodeName)); err != nil {
		return nil, fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
	}
	if s.Request, err = apiwriter.Found(caches.Get[*lifecyclev1alpha1.ContainerRecreateRequest](r.options.Reader, resourceRequests, key.Namespace, RequestName(pod.UID))); err != nil {
		return nil, fmt.Errorf("read ContainerRecreateRequest %s: %w", RequestName(pod.UID), err)
	}
	return s, nil
}
