// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/typedclient"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// kind is the name of the kind.
const kind = "PersistentPodState"

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceStates podwright.Resource = "persistentpodstates"
	resourcePods   podwright.Resource = caches.Pods
)

// Those that it only reads. That of a kind of the white list has the name of its resource and group.
const (
	resourceNodes                                   = caches.Nodes
	resourceStatefulSets         podwright.Resource = "statefulsets"
	resourceAdvancedStatefulSets podwright.Resource = "advancedstatefulsets"
)

// The fields that a plan reads of pods, and of workloads.
const (
	podFields      = controller.Owners | controller.Annotations | controller.Phase | controller.NodeName | controller.Ready
	workloadFields = controller.Annotations | controller.Generation
)

// reads lists what a plan depends on.
func (o *Options) reads() []controller.Read {
	core := controller.NewCore(o.Kubernetes, o.Namespace)
	reads := []controller.Read{
		{Resource: resourceStates, Object: &v1alpha1.PersistentPodState{}, LiveReader: apiwriter.Typed(o.Distribution.PersistentPodStates), Informer: &o.States,
			MakeInformer: controller.Maker(client.NewPersistentPodStateInformer, o.Distribution, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Workload | controller.Owners, IsReconciled: true},
		core.Pods(&o.Pods, podFields).IndexedBy(caches.ByOwner).ConcerningKnown(controller.On(o.podChanged)),
		core.Nodes(&o.Nodes, controller.Labels).Concerning(controller.On(o.nodeChanged)),
	}
	for _, w := range o.workloads() {
		reads = append(reads, w.read)
	}
	return reads
}

// readWorkload is how workloads of a kind are read.
type readWorkload struct {
	kind schema.GroupKind
	read controller.Read
}

// workloads lists the kinds of workloads that are read.
func (o *Options) workloads() (all []readWorkload) {
	add := func(kind schema.GroupKind, resource podwright.Resource, object runtime.Object, informer *cache.SharedIndexInformer, make func() cache.SharedIndexInformer) {
		all = append(all, readWorkload{kind, controller.Read{
			Resource: resource, Object: object, Informer: informer, MakeInformer: make, Fields: workloadFields, Concern: o.workloadChanged, CollectEvents: true,
		}})
	}
	add(podstate.StatefulSets, resourceStatefulSets, &appsv1.StatefulSet{}, &o.StatefulSets, caches.NewInformers(o.Kubernetes, o.Namespace).StatefulSets)
	if o.AdvancedStatefulSets != nil || o.Workloads != nil {
		add(podstate.AdvancedStatefulSets, resourceAdvancedStatefulSets, &workloadsv1beta1.StatefulSet{}, &o.AdvancedStatefulSets, controller.Maker(workloadsclient.NewStatefulSetInformer, o.Workloads, o.Namespace))
	}
	for i := range o.Custom {
		c := &o.Custom[i]
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(c.Kind)
		resource := schema.GroupVersionResource{Group: c.Kind.Group, Version: c.Kind.Version, Resource: c.Resource}
		add(c.Kind.GroupKind(), podwright.Resource(resource.GroupResource().String()), object, &c.Informer, func() cache.SharedIndexInformer {
			return typedclient.NewInformer(o.Dynamic.Resource(resource).Namespace(o.Namespace), o.Dynamic, &unstructured.Unstructured{}, 0, cache.Indexers{})
		})
	}
	return all
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	writer    *apply.Writer
	kinds     []schema.GroupKind // of workloads, always in the same order
	resources map[schema.GroupKind]podwright.Resource
}

// kind describes PersistentPodStates to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o), resources: map[schema.GroupKind]podwright.Resource{}}
	for _, w := range o.workloads() {
		r.kinds = append(r.kinds, w.kind)
		r.resources[w.kind] = w.read.Resource
	}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, SnapshotHolds: shows,
		Writer: r.writer, Forget: r.forget,
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	controller.Measure(r.options.StateMetrics, func(m StateMetrics) { m.Gone(key.Namespace, key.Name) })
}

// shows tells whether a snapshot holds an object that was written.
func shows(s *Snapshot, resource podwright.Resource) func(string) bool {
	if resource == resourceStates {
		return func(name string) bool { return s.State != nil && s.State.Name == name }
	}
	return controller.Holds(s.Pods)
}

// observe reads everything that a plan depends on. It returns nil if there is no PersistentPodState, and no
// workload of its name asks for one.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	reader := r.options.Reader
	s := &Snapshot{Now: r.options.Clock.Now()}
	var err error
	if s.State, err = caches.Get[*v1alpha1.PersistentPodState](reader, resourceStates, key.Namespace, key.Name); apierrors.IsNotFound(err) {
		s.State = nil
	} else if err != nil {
		return nil, fmt.Errorf("read PersistentPodState %s: %w", key, err)
	}
	for _, kind := range r.kinds {
		w, _, err := r.workload(key.Namespace, kind, key.Name)
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", kind, key, err)
		}
		if w != nil && (s.State != nil || asks(w)) {
			s.Namesakes = append(s.Namesakes, w)
		}
	}
	if s.State == nil {
		if len(s.Namesakes) == 0 {
			return nil, nil
		}
		return s, nil
	}
	return s, r.observeTarget(s)
}

// observeTarget reads the workload that a PersistentPodState names, its pods, and all nodes.
func (r *reconciler) observeTarget(s *Snapshot) (err error) {
	reader, ref := r.options.Reader, &s.State.Spec.TargetReference
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil // it names nothing
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	workload, known, err := r.workload(s.State.Namespace, kind, ref.Name)
	if err != nil {
		return fmt.Errorf("read %s %s/%s: %w", kind, s.State.Namespace, ref.Name, err)
	}
	if !known {
		s.Unknown = fmt.Errorf("nothing reads the kind %s that targetRef names: is it among %s of ConfigMap kruise-configuration, and has the manager been started since?",
			kind, v1alpha1.PersistentPodStateWhitelistKey)
		return nil
	}
	if s.Nodes, err = caches.AllNodes(reader); err != nil {
		return fmt.Errorf("read the nodes: %w", err)
	}
	if s.Workload = workload; workload == nil {
		return nil
	}
	s.Pods, err = caches.ControlledBy[*corev1.Pod](reader, resourcePods, s.State.Namespace, workload.UID)
	if err != nil {
		return fmt.Errorf("read the pods of %s %s/%s: %w", kind, s.State.Namespace, ref.Name, err)
	}
	return nil
}

// workload returns a workload, nil if there is none of that name. If known is false,
// no cache has the kind.
func (r *reconciler) workload(namespace string, kind schema.GroupKind, name string) (w *podstate.Workload, known bool, err error) {
	resource, known := r.resources[kind]
	if !known {
		return nil, false, nil
	}
	object, known, err := caches.Find(r.options.Reader, resource, namespace, name)
	return workloadOf(object), known, err
}
