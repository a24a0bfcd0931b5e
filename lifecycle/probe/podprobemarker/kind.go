// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// resourceMarkers is the cache that a Reconciler writes to, and so waits for.
const resourceMarkers podwright.Resource = "podprobemarkers"

const resourceNodePodProbes podwright.Resource = "nodepodprobes" // which it only reads

// podFields are the fields that a plan reads of a pod.
const podFields = controller.Labels | controller.NodeName | controller.Phase | controller.Conditions

// reads lists what a marker's plan depends on. What is there at the start concerns
// markers that are there at the start.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourceMarkers, Object: &v1alpha1.PodProbeMarker{}, LiveReader: apiwriter.Typed(o.Lifecycle.PodProbeMarkers), Informer: &o.Markers,
			MakeInformer: controller.Maker(client.NewPodProbeMarkerInformer, o.Lifecycle, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Generation | controller.Finalizers | controller.Status, IsReconciled: true},
		{Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
			Indexes: []podwright.Index{caches.ByNamespace}, Fields: podFields, Concern: controller.On(o.podChanged), ConcernsKnown: true, CollectEvents: true, SkipInitial: true},
		{Resource: resourceNodePodProbes, Object: &v1alpha1.NodePodProbe{}, Informer: &o.NodePodProbes, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewNodePodProbeInformer(o.Lifecycle, 0, cache.Indexers{})
		}, Indexes: []podwright.Index{caches.ByMarker}, Fields: controller.Generation | controller.Status, Concern: controller.On(o.nodePodProbeChanged), CollectEvents: true, SkipInitial: true},
	}
}

// podChanged enqueues the markers that come to select a pod, or cease to. It also enqueues those of which the pod comes
// to have all results, or ceases to, or says in other words why it has not. (PPM-2.5, PPM-2.7)
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	pod := after
	if pod == nil {
		pod = before
	}
	markers, err := caches.All[*v1alpha1.PodProbeMarker](o.Reader, resourceMarkers, pod.Namespace)
	if err != nil {
		return // it has the index of namespaces, or needs none
	}
	for _, m := range markers {
		was, is := before != nil && m.Selects(before), after != nil && m.Selects(after)
		if was != is || is && !slices.Equal(unknowns(m, before), unknowns(m, after)) {
			enqueue(cache.MetaObjectToName(m).AsNamespacedName())
		}
	}
}

// nodePodProbeChanged enqueues the markers that are being deleted and of which a node has probes no more. Of markers with
// probes without a condition type, it enqueues those of which the node comes to have all results, or ceases to. A reason in
// other words counts, too. (PPM-2.5, PPM-2.7)
func (o *Options) nodePodProbeChanged(before, after *v1alpha1.NodePodProbe, enqueue controller.Enqueue) {
	of := func(n *v1alpha1.NodePodProbe) *v1alpha1.NodePodProbe {
		if n == nil || n.DeletionTimestamp != nil {
			return &v1alpha1.NodePodProbe{}
		}
		return n
	}
	before, after = of(before), of(after)
	left := after.Markers()
	for _, key := range slices.Compact(slices.SortedFunc(slices.Values(slices.Concat(before.Markers(), left)), func(a, b types.NamespacedName) int {
		return strings.Compare(a.String(), b.String())
	})) {
		m, err := caches.Get[*v1alpha1.PodProbeMarker](o.Reader, resourceMarkers, key.Namespace, key.Name)
		switch {
		case err != nil:
		case m.DeletionTimestamp != nil:
			if !slices.Contains(left, key) {
				enqueue(key)
			}
		case withoutCondition(m) && !maps.EqualFunc(unreported(before, m), unreported(after, m), slices.Equal):
			enqueue(key)
		}
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
}

// kind describes PodProbeMarkers to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer,
	}
}

// observe reads everything that a plan for the marker depends on. It returns nil
// when the marker does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	marker, err := caches.Object[v1alpha1.PodProbeMarker](r.options.Reader, resourceMarkers, "PodProbeMarker", key)
	if marker == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Marker: marker, HeldSince: r.writer.HeldSince(marker), Now: r.options.Clock.Now()}
	if marker.DeletionTimestamp != nil || withoutCondition(marker) {
		if s.Probed, err = caches.NodesProbedFor(r.options.Reader, resourceNodePodProbes, key); err != nil {
			return nil, fmt.Errorf("read the NodePodProbes with probes of PodProbeMarker %s: %w", key, err)
		}
	}
	if marker.DeletionTimestamp != nil {
		return s, nil
	}
	selector, _ := marker.PodSelector() // the plan reports it
	if s.Pods, err = caches.List[*corev1.Pod](r.options.Reader, caches.Pods, key.Namespace, selector); err != nil {
		return nil, fmt.Errorf("read the pods of PodProbeMarker %s: %w", key, err)
	}
	return s, nil
}
