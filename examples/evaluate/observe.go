// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/examples/faults/invariants"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/client"
)

// observer watches the workload and what belongs to it, with caches of the
// demo's own: it asks nothing of the controller. It looks at every state that the
// API server reports, not at samples.
type observer struct {
	kind *kind
	name string // NAMESPACE/NAME of the workload
	// changed gets a value after changes; several may share one.
	changed chan struct{}
	sets    cache.Store
	// caches of the pods and revisions of the namespace.
	podCache, revisionCache cache.Store
	// record judges every change by the rules of the library's simulation; nil in a cluster where others
	// may write as well.
	record *invariants.Record

	mu   sync.Mutex
	seen map[types.UID]string // the last version of every object that there is
	facts
}

// facts are what was seen of the pods since an act began.
type facts struct {
	pods, before         map[types.UID]*corev1.Pod // as they are, and as they were when it began
	states, most         int                       // how many states of all pods there were, and the most unavailable pods in one of them
	created, lost, moved sets.Set[string]          // names of pods
	// exchanged are the pods that got another image, and of those unshielded the ones that were Ready before the container had restarted.
	exchanged, unshielded sets.Set[string]
	judged                int // changes that the record had seen when it began
}

// newObserver returns when the caches are filled. They follow the API server
// until the context is done; running counts what does so.
func newObserver(ctx context.Context, k *kind, core kubernetes.Interface, workloads client.Interface, p *place, running *sync.WaitGroup) (*observer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(core, 0, informers.WithNamespace(p.namespace))
	pods, revisions := factory.Core().V1().Pods().Informer(), factory.Apps().V1().ControllerRevisions().Informer()
	sets := k.informer(workloads, p.namespace)
	o := &observer{
		kind: k, name: p.namespace + "/" + setName, changed: make(chan struct{}, 1),
		sets: sets.GetStore(), podCache: pods.GetStore(), revisionCache: revisions.GetStore(),
		seen: map[types.UID]string{}, facts: facts{pods: map[types.UID]*corev1.Pod{}},
	}
	if p.own {
		o.record = invariants.NewRecord()
	}
	for _, informer := range []cache.SharedIndexInformer{sets, pods, revisions} {
		if _, err := informer.AddEventHandler(o.handler()); err != nil {
			return nil, err
		}
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), sets.HasSynced, pods.HasSynced, revisions.HasSynced) {
		return nil, fmt.Errorf("reading %ss, pods and revisions of namespace %s: %w", k.name, p.namespace, context.Cause(ctx))
	}
	return o, nil
}

// handler sees every change of an object.
func (o *observer) handler() cache.ResourceEventHandler {
	see := func(old, new any) {
		before, _ := old.(metav1.Object)
		after, _ := new.(metav1.Object)
		o.see(before, after)
		select {
		case o.changed <- struct{}{}:
		default: // the last one has not been seen yet
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { see(nil, object) },
		UpdateFunc: see,
		DeleteFunc: func(object any) {
			if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = gone.Obj
			}
			see(object, nil)
		},
	}
}

// see takes note of a change; old or new is nil where there is none.
func (o *observer) see(old, new metav1.Object) {
	latest := new
	if new == nil {
		latest = old
	}
	if o.record != nil {
		o.record.Add(latest.GetResourceVersion(), false, invariants.Change{Old: old, New: new})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if new == nil {
		delete(o.seen, latest.GetUID())
	} else {
		o.seen[latest.GetUID()] = latest.GetResourceVersion()
	}
	pod, ok := latest.(*corev1.Pod)
	if owner := metav1.GetControllerOf(latest); !ok || owner == nil || owner.Kind != o.kind.name || owner.Name != setName {
		return
	}
	before := o.before[pod.UID]
	switch {
	case new == nil || pod.DeletionTimestamp != nil:
		o.lost.Insert(pod.Name)
	case before == nil:
		o.created.Insert(pod.Name)
	default:
		o.compare(before, pod)
	}
	if new == nil {
		delete(o.pods, pod.UID)
	} else {
		o.pods[pod.UID] = pod
	}
	o.count()
}

// catchUp waits until all has been seen that the caches hold, which are ahead of what they tell, or the context is done.
func (o *observer) catchUp(ctx context.Context) {
	behind := func(store cache.Store) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return slices.ContainsFunc(store.List(), func(item any) bool {
			object := item.(metav1.Object)
			return o.seen[object.GetUID()] != object.GetResourceVersion()
		})
	}
	for _, store := range []cache.Store{o.sets, o.podCache, o.revisionCache} {
		for ctx.Err() == nil && behind(store) {
			time.Sleep(time.Millisecond)
		}
	}
}

// compare compares a pod with what it was when the act began.
func (o *observer) compare(before, pod *corev1.Pod) {
	if !samePlace(before, pod) {
		o.moved.Insert(pod.Name)
	}
	if pod.Spec.Containers[0].Image != before.Spec.Containers[0].Image {
		o.exchanged.Insert(pod.Name)
	}
	if o.exchanged.Has(pod.Name) && restarts(pod) == restarts(before) && readiness.Ready(pod) {
		o.unshielded.Insert(pod.Name)
	}
}

func samePlace(a, b *corev1.Pod) bool {
	return a.Spec.NodeName == b.Spec.NodeName && a.Status.PodIP == b.Status.PodIP
}

// count counts the pods that are unavailable now. A missing one is.
func (o *observer) count() {
	available := 0
	for _, pod := range o.pods {
		if readiness.Ready(pod) && pod.DeletionTimestamp == nil {
			available++
		}
	}
	o.states++
	o.most = max(o.most, replicas-available)
}

// mostUnavailable returns the most pods that were unavailable at any moment since the act began.
func (o *observer) mostUnavailable() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.most
}

// state plans from what the caches hold, as a controller does; nil while the
// workload is not there.
func (o *observer) state() *state {
	cached, _, _ := o.sets.GetByKey(o.name) // a cache gives no error
	object, ok := cached.(metav1.Object)
	if !ok {
		return nil
	}
	return o.kind.observe(object, belongings{
		owned[*corev1.Pod](o.podCache, object), owned[*appsv1.ControllerRevision](o.revisionCache, object), time.Now(),
	})
}

// owned returns the objects of a cache that a workload controls.
func owned[T metav1.Object](store cache.Store, owner metav1.Object) (out []T) {
	for _, object := range store.List() {
		if object := object.(T); metav1.IsControlledBy(object, owner) {
			out = append(out, object)
		}
	}
	return out
}
