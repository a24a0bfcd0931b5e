// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/workload"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// kind is the name of the kind.
const kind = "WorkloadSpread"

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceSpreads podwright.Resource = "workloadspreads"
	resourcePods    podwright.Resource = caches.Pods
)

// The fields that a plan reads of pods and of workloads.
const (
	podFields = controller.Owners | controller.Labels | controller.Annotations | controller.NodeName | controller.Phase |
		controller.Ready | controller.Restarts | controller.Scheduled | controller.Trouble
	workloadFields = controller.Owners | controller.Generation | controller.Labels | controller.Annotations
)

// reads lists what a WorkloadSpread's plan depends on, WorkloadSpreads first.
func (o *Options) reads() []controller.Read {
	core := controller.NewCore(o.Kubernetes, o.Namespace)
	reads := []controller.Read{
		{Resource: resourceSpreads, Object: &v1alpha1.WorkloadSpread{}, LiveReader: apiwriter.Typed(o.Distribution.WorkloadSpreads), Informer: &o.Spreads,
			MakeInformer: controller.Maker(client.NewWorkloadSpreadInformer, o.Distribution, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Workload | controller.Status, IsReconciled: true, Concern: controller.On(o.spreadChanged)}, // replicas of a webhook reserve there
		core.Pods(&o.Pods, podFields).IndexedBy(caches.ByOwner).ConcerningKnown(controller.On(o.podChanged)),
		o.readWorkload(workload.Deployments, &appsv1.Deployment{}, &o.Deployments, core.Deployments, workloadFields),
		o.readWorkload(workload.ReplicaSets, &appsv1.ReplicaSet{}, &o.ReplicaSets, core.ReplicaSets, workloadFields),
		o.readWorkload(workload.StatefulSets, &appsv1.StatefulSet{}, &o.StatefulSets, core.StatefulSets, workloadFields),
		o.readWorkload(workload.Jobs, &batchv1.Job{}, &o.Jobs, core.Jobs, workloadFields),
	}
	if o.CloneSets != nil || o.Workloads != nil {
		reads = append(reads, o.readWorkload(workload.CloneSets, &workloadsv1alpha1.CloneSet{}, &o.CloneSets, controller.Maker(workloadsclient.NewCloneSetInformer, o.Workloads, o.Namespace), workloadFields|controller.Status)) // for the revision
	}
	if o.AdvancedStatefulSets != nil || o.Workloads != nil {
		reads = append(reads, o.readWorkload(workload.AdvancedStatefulSets, &workloadsv1beta1.StatefulSet{}, &o.AdvancedStatefulSets, controller.Maker(workloadsclient.NewStatefulSetInformer, o.Workloads, o.Namespace), workloadFields))
	}
	reads = append(reads, o.readCustom()...)
	if !o.NoNodes {
		reads = append(reads, controller.Read{Resource: caches.Nodes, Object: &corev1.Node{}, Informer: &o.Nodes, MakeInformer: caches.NewInformers(o.Kubernetes, "").Nodes})
	}
	return reads
}

// resourceOf names the cache of a kind of workloads, also of one of Custom.
func (o *Options) resourceOf(kind schema.GroupKind) podwright.Resource {
	if c := o.custom(kind); c != nil && workload.KindOf(kind) == nil {
		return podwright.Resource(c.groupResource().String())
	}
	return resourceOf(kind)
}

// isUnread tells whether an error says that there is no cache.
func isUnread(err error) bool { return meta.IsNoMatchError(err) }

// resourceOf names the cache of a kind of workloads.
func resourceOf(kind schema.GroupKind) podwright.Resource {
	return podwright.Resource(workload.Resource(kind))
}

func (o *Options) readWorkload(kind schema.GroupKind, object runtime.Object, informer *cache.SharedIndexInformer, make func() cache.SharedIndexInformer, fields controller.Fields) controller.Read {
	return controller.Read{
		Resource: resourceOf(kind), Object: object, Informer: informer, MakeInformer: make, Indexes: []podwright.Index{caches.ByOwner}, Fields: fields, Concern: o.workloadChanged, ConcernsKnown: true, CollectEvents: true, SkipInitial: true,
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	moves   apiwriter.Last[podplan.Repaired] // see Snapshot.Moved
}

// kind describes WorkloadSpreads to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, RetryWhenDue: true,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: controller.HoldsOf(resourcePods, func(s *Snapshot) []*corev1.Pod { return s.Pods }, controller.HoldsNone),
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.moves.Forget(key)
	controller.Measure(r.options.SpreadMetrics, func(m SpreadMetrics) { m.Gone(key.Namespace, key.Name) })
}

// observe reads everything that a plan for the WorkloadSpread depends on. It returns nil
// when the WorkloadSpread does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	ws, err := caches.Object[v1alpha1.WorkloadSpread](r.options.Reader, resourceSpreads, "WorkloadSpread", key)
	if ws == nil || err != nil {
		return nil, err
	}
	moves := r.moves.Get(key)
	s := &Snapshot{Spread: ws, HeldSince: r.writer.HeldSince(ws), Moved: moves.Deleted, NotMoved: moves.Kept, Now: r.options.Clock.Now()}
	target, known := spread.KindOf(ws)
	if s.Custom = !known && r.options.spreadsKind(target); !known && !s.Custom {
		return s, nil
	}
	if s.Others, err = r.options.othersOf(ws); err != nil || s.holder() != nil {
		return s, err
	}
	w, known, err := r.options.workload(key.Namespace, target, ws.Spec.TargetReference.Name)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", target, ws.Spec.TargetReference.Name, err)
	}
	if s.Unread = !known; w == nil {
		return s, nil
	}
	s.Workload = w.seenBy(ws)
	if s.Pods, err = podsOf(r.options.Reader, key.Namespace, w); err != nil {
		return nil, err
	}
	return s, r.observeNodes(s)
}

// podsOf reads the pods of a workload, by name.
func podsOf(reader podwright.Reader, namespace string, w *cached) (pods []*corev1.Pod, err error) {
	for _, owner := range w.Owners {
		owned, err := caches.ControlledBy[*corev1.Pod](reader, resourcePods, namespace, owner)
		if err != nil {
			return nil, fmt.Errorf("read the pods of %s %s: %w", w.Kind, w.Name, err)
		}
		pods = append(pods, owned...)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods, nil
}

// spreads returns the WorkloadSpreads of a namespace.
func (o *Options) spreads(namespace string) ([]*v1alpha1.WorkloadSpread, error) {
	return caches.All[*v1alpha1.WorkloadSpread](o.Reader, resourceSpreads, namespace)
}

// othersOf returns the other WorkloadSpreads that are of the pods of one. (WS-22)
func (o *Options) othersOf(ws *v1alpha1.WorkloadSpread) (others []*v1alpha1.WorkloadSpread, err error) {
	all, err := o.spreads(ws.Namespace)
	for _, other := range all {
		if kind, _ := spread.KindOf(other); other.Name != ws.Name && o.spreadsKind(kind) && spread.Conflict(ws, other, o.aboveTarget) {
			others = append(others, other)
		}
	}
	slices.SortFunc(others, func(a, b *v1alpha1.WorkloadSpread) int { return cmp.Compare(a.Name, b.Name) })
	return others, err
}

// workload returns a workload, nil if there is none of that name. If known is false,
// no cache has the kind.
func (o *Options) workload(namespace string, kind schema.GroupKind, name string) (w *cached, known bool, err error) {
	object, known, err := caches.Find(o.Reader, o.resourceOf(kind), namespace, name)
	if w = o.workloadOf(object); err != nil || w == nil {
		return w, known, err
	}
	if kind != spread.Deployments {
		if o.custom(kind) != nil {
			err = o.addOwned(namespace, w)
		}
		return w, known, err
	}
	replicaSets, err := caches.ControlledBy[*appsv1.ReplicaSet](o.Reader, resourceOf(workload.ReplicaSets), namespace, w.UID)
	if err != nil {
		return nil, true, err
	}
	w.addReplicaSets(replicaSets)
	return w, true, nil
}

// observeNodes reads the nodes of pods that may be adopted.
func (r *reconciler) observeNodes(s *Snapshot) error {
	if r.options.NoNodes {
		return nil
	}
	s.Nodes = map[string]*corev1.Node{}
	for _, pod := range s.Pods {
		if matched, readable := spread.Matched(pod); pod.Spec.NodeName == "" || readable && matched.Name == s.Spread.Name {
			continue
		}
		node, err := apiwriter.Found(caches.Get[*corev1.Node](r.options.Reader, caches.Nodes, "", pod.Spec.NodeName))
		if err != nil {
			return fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
		}
		if node != nil {
			s.Nodes[node.Name] = node
		}
	}
	return nil
}
