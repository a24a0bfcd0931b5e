// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"context"
	"fmt"

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

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceNodePodProbes podwright.Resource = "nodepodprobes"
	resourcePods          podwright.Resource = caches.Pods
)

const resourceMarkers podwright.Resource = "podprobemarkers" // which it only reads

// podFields are the fields that a plan reads of a pod.
const podFields = controller.Labels | controller.Annotations | controller.NodeName | controller.Phase | controller.Conditions | controller.Address

// reads lists what the plan for a node depends on. Heartbeats, and all else that
// nodes report, do not count.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: caches.Nodes, Object: &corev1.Node{}, Informer: &o.Nodes, MakeInformer: caches.NewInformers(o.Kubernetes, "").Nodes, Fields: controller.Labels | controller.NodeReady, IsReconciled: true},
		{Resource: resourceNodePodProbes, Object: &v1alpha1.NodePodProbe{}, LiveReader: apiwriter.TypedCluster(o.Lifecycle.NodePodProbes), Informer: &o.NodePodProbes, MakeInformer: func() cache.SharedIndexInformer {
			return client.NewNodePodProbeInformer(o.Lifecycle, 0, cache.Indexers{})
		}, Indexes: []podwright.Index{caches.ByMarker}, Fields: controller.Generation | controller.Status, Concern: controller.On(nodePodProbeChanged)},
		{Resource: resourceMarkers, Object: &v1alpha1.PodProbeMarker{}, Informer: &o.Markers,
			MakeInformer: controller.Maker(client.NewPodProbeMarkerInformer, o.Lifecycle, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Generation, Concern: controller.On(o.markerChanged), SkipInitial: true},
		{Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.InAnyNamespace(o.Namespace, apiwriter.Pods(o.Kubernetes)), Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
			Indexes: []podwright.Index{caches.ByNode, caches.ByNamespace}, Fields: podFields, Concern: controller.On(o.podChanged), CollectEvents: true, SkipInitial: true},
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	wrote   apiwriter.Last[map[types.UID]Wrote]
	leftOut apiwriter.Last[map[types.UID]bool] // the markers that were told that a node has no room, by node
}

// kind describes nodes to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.wrote.Forget(key)
	r.leftOut.Forget(key)
}

// observe reads everything that a plan for the node depends on. It returns nil
// when there is neither the node nor its NodePodProbe.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	s := &Snapshot{Namespace: r.options.Namespace, Serverless: r.options.Features.Serverless, Now: r.options.Clock.Now(), Wrote: r.wrote.Get(key), Markers: map[string][]*v1alpha1.PodProbeMarker{}}
	var err error
	if s.Node, err = apiwriter.Found(caches.Get[*corev1.Node](r.options.Reader, caches.Nodes, "", key.Name)); err != nil {
		return nil, fmt.Errorf("read node %s: %w", key.Name, err)
	}
	if s.NodePodProbe, err = apiwriter.Found(caches.Get[*v1alpha1.NodePodProbe](r.options.Reader, resourceNodePodProbes, "", key.Name)); err != nil {
		return nil, fmt.Errorf("read NodePodProbe %s: %w", key.Name, err)
	}
	if s.Node == nil && s.NodePodProbe == nil {
		return nil, nil
	}
	if s.Pods, err = caches.PodsOn(r.options.Reader, key.Name); err != nil {
		return nil, fmt.Errorf("read the pods on node %s: %w", key.Name, err)
	}
	for _, namespace := range s.namespaces() {
		if s.Markers[namespace], err = caches.All[*v1alpha1.PodProbeMarker](r.options.Reader, resourceMarkers, namespace); err != nil {
			return nil, fmt.Errorf("read the PodProbeMarkers of namespace %s: %w", namespace, err)
		}
	}
	return s, nil
}

// namespaces are those whose markers matter, each once.
func (s *Snapshot) namespaces() (all []string) {
	seen := map[string]bool{}
	for _, pod := range s.Pods {
		if !seen[pod.Namespace] {
			seen[pod.Namespace] = true
			all = append(all, pod.Namespace)
		}
	}
	return all
}
