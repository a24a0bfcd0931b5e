// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceEvictions podwright.Resource = resource
	resourcePods      podwright.Resource = caches.Pods
)

// resourceCloneSets is only read.
const resourceCloneSets podwright.Resource = "clonesets"

// podFields are the fields that a plan reads of pods.
const podFields = controller.Owners | controller.Labels | controller.Annotations | controller.Phase | controller.Ready | controller.InPlaceUpdateReady

// reads lists what the plan for an Eviction depends on.
func (o *Options) reads() []controller.Read {
	reads := []controller.Read{
		{Resource: resourceEvictions, Object: &Eviction{}, LiveReader: apiwriter.Typed(o.EvictionClient.Evictions), Informer: &o.Evictions,
			MakeInformer: controller.Maker(NewEvictionInformer, o.EvictionClient, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Status, IsReconciled: true},
		controller.NewCore(o.Kubernetes, o.Namespace).Pods(&o.Pods, podFields).IndexedBy(caches.ByOwner).ConcerningKnown(controller.EachOf(o.evictionsOf)),
	}
	if o.CloneSets != nil || o.Workloads != nil {
		reads = append(reads, controller.Read{Resource: resourceCloneSets, Object: &workloadsv1alpha1.CloneSet{}, Informer: &o.CloneSets,
			MakeInformer: controller.Maker(workloadsclient.NewCloneSetInformer, o.Workloads, o.Namespace), Fields: controller.Generation, Concern: controller.EachOf(o.evictionsOf), ConcernsKnown: true, CollectEvents: true, SkipInitial: true})
	}
	return reads
}

// evictionsOf names the Evictions of a namespace that a pod or a CloneSet concerns, and whose turn is this responder's.
// They are those of the pod, and those of pods that the same workload controls.
func (o *Options) evictionsOf(object metav1.Object) (keys []types.NamespacedName) {
	workload := object.GetUID()
	pod, isPod := object.(*corev1.Pod)
	if isPod {
		workload = controllerOf(pod)
	}
	// The index is there, so there is no error.
	_ = cache.ListAllByNamespace(o.Evictions.GetIndexer(), object.GetNamespace(), labels.Everything(), func(found any) {
		eviction := found.(*Eviction)
		if !atWork(eviction) {
			return
		}
		target := eviction.Spec.Target.Pod
		if isPod && target.Name == pod.Name || workload != "" && o.controllerOf(eviction.Namespace, target.Name) == workload {
			keys = append(keys, cache.MetaObjectToName(eviction).AsNamespacedName())
		}
	})
	return keys
}

// controllerOf returns the UID of the workload that controls a pod in the cache, empty for none.
func (o *Options) controllerOf(namespace, name string) types.UID {
	found, _, _ := o.Pods.GetIndexer().GetByKey(cache.NewObjectName(namespace, name).String()) // an indexer makes no errors
	pod, _ := found.(*corev1.Pod)
	return controllerOf(pod)
}

func controllerOf(pod *corev1.Pod) types.UID {
	if pod == nil {
		return ""
	}
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID
	}
	return ""
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	answers apiwriter.Last[answer]
}

// kind describes Evictions to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.answers.Forget,
	}
}

// observe reads everything that a plan for the Eviction depends on. It returns nil when the Eviction
// does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	eviction, err := caches.Object[Eviction](r.options.Reader, resourceEvictions, "Eviction", key)
	if eviction == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Eviction: eviction, RoomTimeout: r.options.RoomTimeout, Now: r.options.Clock.Now()}
	if last := r.answers.Get(key); last.to == eviction.UID {
		s.Answer = last.Answer
	}
	target := eviction.Spec.Target.Pod
	if target == nil {
		return s, nil
	}
	s.Pod, err = apiwriter.Found(caches.Get[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, target.Name))
	if err != nil {
		return nil, fmt.Errorf("read pod %s of Eviction %s: %w", target.Name, key, err)
	}
	return s, r.observeWorkload(s)
}

// observeWorkload reads the CloneSet of the pod, and its other pods.
func (r *reconciler) observeWorkload(s *Snapshot) error {
	s.Set, s.Pods = nil, nil
	if s.Pod == nil || !ofCloneSet(s.Pod) {
		return nil
	}
	ref := metav1.GetControllerOfNoCopy(s.Pod)
	set, err := apiwriter.Found(caches.Get[*workloadsv1alpha1.CloneSet](r.options.Reader, resourceCloneSets, s.Pod.Namespace, ref.Name))
	if err != nil {
		return fmt.Errorf("read CloneSet %s of pod %s/%s: %w", ref.Name, s.Pod.Namespace, s.Pod.Name, err)
	}
	if set == nil || set.UID != ref.UID {
		return nil
	}
	pods, err := caches.ControlledBy[*corev1.Pod](r.options.Reader, resourcePods, s.Pod.Namespace, set.UID)
	if err != nil {
		return fmt.Errorf("read the pods of CloneSet %s/%s: %w", set.Namespace, set.Name, err)
	}
	s.Set, s.Pods = set, pods
	return nil
}
