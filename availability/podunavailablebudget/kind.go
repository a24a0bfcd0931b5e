// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/workload"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// kind is the name of the kind.
const kind = "PodUnavailableBudget"

// Resource names a cache: ResourceBudgets and its like.
type Resource = podwright.Resource

// The caches that a Reconciler writes to, and so waits for.
const (
	ResourceBudgets Resource = "podunavailablebudgets"
	ResourcePods    Resource = caches.Pods
)

// ResourcePodDisruptionBudgets is one more, unless Options.Mirror is MirrorNone.
const ResourcePodDisruptionBudgets Resource = "poddisruptionbudgets"

// The fields that a plan reads of pods and of workloads.
const (
	podFields = controller.Owners | controller.Labels | controller.Annotations | controller.Phase | controller.Images | controller.Containers |
		controller.ContainerStates | controller.ObservedGeneration | controller.Ready | controller.Trouble
	workloadFields = controller.Owners | controller.Generation
	// disruptionFields are those of PodDisruptionBudgets, whose status concerns no plan.
	disruptionFields = controller.Owners | controller.Generation
)

// reads lists what a budget's plan depends on.
func (o *Options) reads() []controller.Read {
	core := controller.NewCore(o.Kubernetes, o.Namespace)
	reads := []controller.Read{
		{Resource: ResourceBudgets, Object: &v1alpha1.PodUnavailableBudget{}, LiveReader: apiwriter.Typed(o.Availability.PodUnavailableBudgets), Informer: &o.Budgets,
			MakeInformer: controller.Maker(client.NewPodUnavailableBudgetInformer, o.Availability, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Workload, IsReconciled: true, Concern: controller.On(o.budgetChanged)},
		core.Pods(&o.Pods, podFields).IndexedBy(caches.ByNamespace).ConcerningKnown(controller.On(o.podChanged)),
	}
	if o.Mirror != MirrorNone {
		reads = append(reads, controller.Read{Resource: ResourcePodDisruptionBudgets, Object: &policyv1.PodDisruptionBudget{},
			LiveReader: apiwriter.Resource{Client: o.Kubernetes.PolicyV1().RESTClient(), Name: string(ResourcePodDisruptionBudgets)},
			Informer:   &o.PodDisruptionBudgets, MakeInformer: core.PodDisruptionBudgets, Indexes: []podwright.Index{caches.ByNamespace},
			Fields: disruptionFields, Concern: controller.On(o.disruptionBudgetChanged), CollectEvents: true, SkipInitial: true})
	}
	return append(reads, o.readWorkloads(core.Informers)...)
}

// resourceOf names the cache of a kind of workloads.
func resourceOf(kind schema.GroupKind) Resource { return Resource(workload.Resource(kind)) }

// readWorkloads lists the workloads that budgets know by themselves.
func (o *Options) readWorkloads(core caches.Informers) []controller.Read {
	reads := []controller.Read{
		o.readsOf(workload.Deployments, &appsv1.Deployment{}, &o.Deployments, core.Deployments),
		o.readsOf(workload.ReplicaSets, &appsv1.ReplicaSet{}, &o.ReplicaSets, core.ReplicaSets),
		o.readsOf(workload.StatefulSets, &appsv1.StatefulSet{}, &o.StatefulSets, core.StatefulSets),
		o.readsOf(workload.ReplicationControllers, &corev1.ReplicationController{}, &o.ReplicationControllers, core.ReplicationControllers),
	}
	if o.CloneSets != nil || o.Workloads != nil {
		reads = append(reads, o.readsOf(workload.CloneSets, &workloadsv1alpha1.CloneSet{}, &o.CloneSets, controller.Maker(workloadsclient.NewCloneSetInformer, o.Workloads, o.Namespace)))
	}
	if o.AdvancedStatefulSets != nil || o.Workloads != nil {
		reads = append(reads, o.readsOf(workload.AdvancedStatefulSets, &workloadsv1beta1.StatefulSet{}, &o.AdvancedStatefulSets, controller.Maker(workloadsclient.NewStatefulSetInformer, o.Workloads, o.Namespace)))
	}
	return reads
}

func (o *Options) readsOf(kind schema.GroupKind, object runtime.Object, informer *cache.SharedIndexInformer, make func() cache.SharedIndexInformer) controller.Read {
	return controller.Read{
		Resource: resourceOf(kind), Object: object, Informer: informer, MakeInformer: make, Fields: workloadFields, Concern: o.workloadChanged, ConcernsKnown: true, CollectEvents: true, SkipInitial: true,
	}
}

// budgetChanged enqueues the other budgets of the namespace when one goes: its pods may be theirs. (PUB-20)
func (o *Options) budgetChanged(before, after *v1alpha1.PodUnavailableBudget, enqueue controller.Enqueue) {
	if before == nil || after != nil && before.UID == after.UID {
		return
	}
	others, err := o.budgets(before.Namespace)
	if err != nil {
		return // the index is there since New
	}
	for _, b := range others {
		enqueue(types.NamespacedName{Namespace: b.Namespace, Name: b.Name})
	}
}

// podChanged enqueues the budgets that a pod belongs to, before the event or after it. Pods
// that are there at the start concern budgets that are there too.
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if before != nil && (after == nil || before.UID != after.UID || !sameBudgets(before, after)) {
		o.enqueueOf(before, enqueue)
	}
	if after != nil {
		o.enqueueOf(after, enqueue)
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	scales  *scaleCache // nil without Options.Scales

	creations      apply.Creations           // of PodDisruptionBudgets
	deletedMirrors apiwriter.Last[types.UID] // which caches may go on to show
	readings       readings                  // of pods
}

// kind describes budgets to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	if o.Scales != nil {
		r.scales = &scaleCache{scales: o.Scales, clock: o.Clock}
	}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, RetryWhenDue: true,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: func(s *Snapshot, _ Resource) func(string) bool { return controller.Holds(s.Disruptions) },
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.creations.Forget(key)
	r.deletedMirrors.Forget(key)
	r.readings.forget(key.Namespace)
	controller.Measure(r.options.BudgetMetrics, func(m BudgetMetrics) { m.Gone(key.Namespace, key.Name) })
}

// observe reads everything that a plan for the budget depends on. It returns nil
// when the budget does not exist.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	b, err := caches.Object[v1alpha1.PodUnavailableBudget](r.options.Reader, ResourceBudgets, "PodUnavailableBudget", key)
	if b == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Budget: b, Features: r.options.Features, Mirror: r.options.Mirror, HeldSince: r.writer.HeldSince(b), Now: r.options.Clock.Now()}
	if s.Others, err = r.options.budgets(key.Namespace); err != nil {
		return nil, fmt.Errorf("read the PodUnavailableBudgets of namespace %s: %w", key.Namespace, err)
	}
	s.Others = slices.DeleteFunc(s.Others, func(other *v1alpha1.PodUnavailableBudget) bool { return other.Name == b.Name })
	if s.Pods, err = r.options.pods(key.Namespace); err != nil {
		return nil, fmt.Errorf("read the pods of namespace %s: %w", key.Namespace, err)
	}
	if s.Mirror != MirrorNone {
		if s.Disruptions, err = caches.All[*policyv1.PodDisruptionBudget](r.options.Reader, ResourcePodDisruptionBudgets, key.Namespace); err != nil {
			return nil, fmt.Errorf("read the PodDisruptionBudgets of namespace %s: %w", key.Namespace, err)
		}
	}
	s.read = r.readings.of(key.Namespace, s.Pods)
	s.candidates = budget.Candidates(b, s.read)
	s.Workloads, s.LookAfter, s.Unknown = r.workloadsFor(ctx, b, s.candidates, s.Now)
	return s, nil
}

// budgets returns the budgets of a namespace.
func (o *Options) budgets(namespace string) ([]*v1alpha1.PodUnavailableBudget, error) {
	return caches.All[*v1alpha1.PodUnavailableBudget](o.Reader, ResourceBudgets, namespace)
}

// pods returns the pods of a namespace.
func (o *Options) pods(namespace string) ([]*corev1.Pod, error) {
	return caches.All[*corev1.Pod](o.Reader, ResourcePods, namespace)
}

// sameBudgets tells whether a pod belongs to the same budgets before and after an event.
func sameBudgets(before, after *corev1.Pod) bool {
	b, a := metav1.GetControllerOfNoCopy(before), metav1.GetControllerOfNoCopy(after)
	return maps.Equal(before.Labels, after.Labels) && relatedTo(before) == relatedTo(after) && (b == nil) == (a == nil) && (b == nil || b.UID == a.UID)
}
