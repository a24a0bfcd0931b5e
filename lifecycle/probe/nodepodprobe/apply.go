// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceNodePodProbes, o.Recorder
	w.Merge = apiwriter.TypedMerge(func(string) client.NodePodProbeInterface { return o.Lifecycle.NodePodProbes() })
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	probes *v1alpha1.NodePodProbe

	lock  sync.Mutex
	wrote map[types.UID]Wrote
}

// apply does what the plan says. One pod's failure does not stop the others; all
// errors are collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	for _, i := range plan.Ignored {
		klog.FromContext(ctx).V(2).Info("A result is not written", "pod", i.Pod, "probe", i.Probe, "reason", i.Reason)
	}
	r.recordLeftOut(s, plan)
	if s.NodePodProbe == nil && len(plan.Patches) == 0 {
		return plan.RequeueAfter, r.create(ctx, s.Node, plan.Create)
	}
	of := apiwriter.Object(s.Node) // a virtual one has results, too
	if s.NodePodProbe != nil {
		of = s.NodePodProbe
	}
	a := &applier{reconciler: r, Sync: r.writer.Begin(of), probes: s.NodePodProbe, wrote: known(s)}
	if plan.Delete {
		return a.delete(ctx, s)
	}
	err = errors.Join(a.change(ctx, plan), apply.Each(ctx, plan.Patches, func(ctx context.Context, p PodPatch) error { return a.patch(ctx, &p, s.Now) }))
	r.wrote.Set(a.Key, a.wrote)
	return plan.RequeueAfter, err
}

// recordLeftOut records for a marker once that a node has no room for its probes. (PPM-3.8)
func (r *reconciler) recordLeftOut(s *Snapshot, plan *Plan) {
	if r.writer.Recorder == nil || s.Node == nil {
		return
	}
	key := types.NamespacedName{Name: s.Node.Name}
	told, now := r.leftOut.Get(key), map[types.UID]bool{}
	for _, all := range s.Markers {
		for _, m := range all {
			why := plan.LeftOut[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}]
			if why == "" {
				continue
			}
			if now[m.UID] = true; !told[m.UID] {
				of := &corev1.ObjectReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "PodProbeMarker", Namespace: m.Namespace, Name: m.Name, UID: m.UID}
				r.writer.Recorder.Eventf(of, corev1.EventTypeWarning, probesLeftOutEvent, "Not run on node %s: %s", s.Node.Name, why)
			}
		}
	}
	if len(now) == 0 {
		r.leftOut.Forget(key)
		return
	}
	r.leftOut.Set(key, now)
}

// probesLeftOutEvent is the reason of the event about a marker for whose probes a node has no room.
const probesLeftOutEvent = "ProbesLeftOut"

// known returns what is remembered of the pods that are still there.
func known(s *Snapshot) map[types.UID]Wrote {
	here := make(map[types.UID]bool, len(s.Pods))
	for _, pod := range s.Pods {
		here[pod.UID] = true
	}
	out := maps.Clone(s.Wrote)
	if out == nil {
		out = map[types.UID]Wrote{}
	}
	maps.DeleteFunc(out, func(pod types.UID, _ Wrote) bool { return !here[pod] })
	return out
}

// create creates the NodePodProbe of a node, nil for none. If there is one already, the
// cache will show it.
func (r *reconciler) create(ctx context.Context, node *corev1.Node, n *v1alpha1.NodePodProbe) error {
	if n == nil {
		return nil
	}
	created, err := r.options.Lifecycle.NodePodProbes().Create(ctx, n, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("create NodePodProbe %s: %w", n.Name, err)
		if r.writer.Recorder != nil && node != nil {
			r.writer.Recorder.Event(node, corev1.EventTypeWarning, "FailedCreate", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	r.writer.Own.Wrote(types.NamespacedName{Name: n.Name}, resourceNodePodProbes, created.ResourceVersion)
	return nil
}

// delete deletes a NodePodProbe whose node is gone, or is going.
func (a *applier) delete(ctx context.Context, s *Snapshot) (requeueAfter time.Duration, err error) {
	if s.Node == nil {
		live, err := apiwriter.Found(a.options.Kubernetes.CoreV1().Nodes().Get(ctx, a.Key.Name, metav1.GetOptions{}))
		if err != nil {
			return 0, fmt.Errorf("find out whether node %s is gone: %w", a.Key.Name, err)
		}
		if live != nil && live.DeletionTimestamp == nil {
			return 0, &controller.Lag{Resource: caches.Nodes, Name: a.Key.Name}
		}
	}
	err = a.options.Lifecycle.NodePodProbes().Delete(ctx, a.Key.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &a.probes.UID}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		err = fmt.Errorf("delete NodePodProbe %s, whose node is gone: %w", a.Key.Name, err)
		a.RecordFailure(apply.Delete, err)
		return 0, err
	}
	return 0, nil
}

// change writes the planned spec. What the agent reports meanwhile is no conflict. With all namespaces no other client
// writes the spec, and only another NodePodProbe of the name is left alone.
func (a *applier) change(ctx context.Context, plan *Plan) error {
	if plan.Spec == nil {
		return nil
	}
	observed := apply.Observed{UID: a.probes.UID}
	if a.options.Namespace != "" {
		observed.ResourceVersion = a.Version // others write the probes of other namespaces
	}
	data, err := apply.FieldPatch("spec", observed, &a.probes.Spec, plan.Spec)
	if err != nil {
		return fmt.Errorf("change NodePodProbe %s: %w", a.Key.Name, err)
	}
	return a.PutBack("spec", apply.Wanted(data), func() error { return a.sendChange(ctx, plan, data) })
}

func (a *applier) sendChange(ctx context.Context, plan *Plan, data []byte) error {
	version, err := a.Merge(ctx, a.Key, data)
	if err != nil && apply.Gone(err) {
		return nil // the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("change NodePodProbe %s: %w", a.Key.Name, err)
		a.RecordFailure(apply.Update, err)
		return err
	}
	for _, d := range plan.Dropped {
		klog.FromContext(ctx).V(2).Info("Took a probe away", "pod", d.Pod, "probe", d.Probe, "reason", d.Reason)
	}
	a.Wrote(resourceNodePodProbes, version)
	return nil
}

// patch writes results to a pod, in one request. One that is gone needs none. (PPM-3.3)
func (a *applier) patch(ctx context.Context, p *PodPatch, now time.Time) error {
	writes, err := p.Writes(p.Pod)
	if err != nil {
		return err
	}
	wanted := ""
	for _, w := range writes {
		wanted += apply.Wanted(w.Data)
	}
	return a.PutBack("pod "+nameOf(p.Pod).String(), wanted, func() error { return a.send(ctx, p, writes, now) })
}

func (a *applier) send(ctx context.Context, p *PodPatch, writes []podpatch.Write, now time.Time) error {
	for _, w := range writes {
		w.Subresource = "status" // it takes labels and annotations too, and no webhook of pods is asked
		version, err := a.Pods.Patch(ctx, p.Pod, w.Subresource, types.StrategicMergePatchType, w.Data)
		if err != nil && apply.Gone(err) {
			return nil // the cache will show it
		}
		if err != nil {
			err = fmt.Errorf("write the results of probes to pod %s: %w", nameOf(p.Pod), a.Unanswered(resourcePods, nameOf(p.Pod).String(), err))
			a.RecordFailure(apply.Update, err)
			return err
		}
		a.Wrote(resourcePods, version)
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.wrote[p.Pod.UID] = Wrote{Results: p.Results, At: now}
	return nil
}
