package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/examples/evaluate/history"
	"github.com/podwright/podwright/workloads/client"
)

// observer watches the workload and what belongs to it, with caches of the
// demo's own: it asks nothing of the manager.
type observer struct {
	kind      *kind
	namespace string
	recorder  history.Recorder
	// changed gets a value after changes; several may share one.
	changed chan struct{}

	sets      cache.Store
	pods      corelisters.PodLister
	revisions appslisters.ControllerRevisionLister
}

// newObserver returns when the caches are filled. They follow the API server
// until the context is done; running counts what does so.
func newObserver(ctx context.Context, k *kind, core kubernetes.Interface, workloads client.Interface, namespace string, running *sync.WaitGroup) (*observer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(core, 0, informers.WithNamespace(namespace))
	pods, revisions := factory.Core().V1().Pods(), factory.Apps().V1().ControllerRevisions()
	sets := k.informer(workloads, namespace)
	o := &observer{
		kind: k, namespace: namespace, changed: make(chan struct{}, 1),
		sets: sets.GetStore(), pods: pods.Lister(), revisions: revisions.Lister(),
	}
	if _, err := pods.Informer().AddEventHandler(o.record()); err != nil {
		return nil, err
	}
	all := []cache.SharedIndexInformer{sets, pods.Informer(), revisions.Informer()}
	synced := make([]cache.InformerSynced, 0, len(all))
	for _, informer := range all {
		if _, err := informer.AddEventHandler(o.notify()); err != nil {
			return nil, err
		}
		synced = append(synced, informer.HasSynced)
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return nil, fmt.Errorf("reading %ss, pods and revisions of namespace %s: %w", k.name, namespace, context.Cause(ctx))
	}
	return o, nil
}

// record tells the recorder of every state of every pod of the workload.
func (o *observer) record() cache.ResourceEventHandler {
	ours := func(object any) bool {
		owner := metav1.GetControllerOf(asPod(object))
		return owner != nil && owner.Kind == o.kind.name && owner.Name == setName
	}
	return cache.FilteringResourceEventHandler{FilterFunc: ours, Handler: cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { o.recorder.Set(asPod(object)) },
		UpdateFunc: func(_, object any) { o.recorder.Set(asPod(object)) },
		DeleteFunc: func(object any) { o.recorder.Delete(asPod(object)) },
	}}
}

// asPod also takes what an informer says of a pod whose deletion it has missed.
func asPod(object any) *corev1.Pod {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		return pod
	}
	return &corev1.Pod{}
}

func (o *observer) notify() cache.ResourceEventHandler {
	changed := func() {
		select {
		case o.changed <- struct{}{}:
		default: // the last one has not been seen yet
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed() },
		UpdateFunc: func(any, any) { changed() },
		DeleteFunc: func(any) { changed() },
	}
}

// state plans from what the caches hold, as a controller does; nil while the
// workload is not there.
func (o *observer) state() *state {
	cached, _, _ := o.sets.GetByKey(o.namespace + "/" + setName) // a cache gives no error
	object, ok := cached.(metav1.Object)
	if !ok {
		return nil
	}
	its := belongings{now: time.Now()}
	pods, _ := o.pods.Pods(o.namespace).List(labels.Everything())
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, object) {
			its.pods = append(its.pods, pod)
		}
	}
	revisions, _ := o.revisions.ControllerRevisions(o.namespace).List(labels.Everything())
	for _, revision := range revisions {
		if metav1.IsControlledBy(revision, object) {
			its.revisions = append(its.revisions, revision)
		}
	}
	return o.kind.observe(object, its)
}
