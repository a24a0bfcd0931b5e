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
	"github.com/podwright/podwright/workloads/cloneset"
)

// observer watches the CloneSet and what belongs to it, with caches of the
// demo's own: it asks nothing of the manager.
type observer struct {
	namespace string
	recorder  history.Recorder
	// changed gets a value after changes; several may share one.
	changed chan struct{}

	sets      client.CloneSetLister
	pods      corelisters.PodLister
	revisions appslisters.ControllerRevisionLister
}

// newObserver returns when the caches are filled. They follow the API server
// until the context is done; running counts what does so.
func newObserver(ctx context.Context, core kubernetes.Interface, workloads client.Interface, namespace string, running *sync.WaitGroup) (*observer, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(core, 0, informers.WithNamespace(namespace))
	pods, revisions := factory.Core().V1().Pods(), factory.Apps().V1().ControllerRevisions()
	sets := client.NewCloneSetInformer(workloads, namespace, 0, nil)
	o := &observer{
		namespace: namespace, changed: make(chan struct{}, 1),
		sets: client.NewCloneSetLister(sets.GetIndexer()), pods: pods.Lister(), revisions: revisions.Lister(),
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
		return nil, fmt.Errorf("reading CloneSets, pods and revisions of namespace %s: %w", namespace, context.Cause(ctx))
	}
	return o, nil
}

// record tells the recorder of every state of every pod of the CloneSet.
func (o *observer) record() cache.ResourceEventHandler {
	ours := func(object any) bool {
		owner := metav1.GetControllerOf(asPod(object))
		return owner != nil && owner.Kind == "CloneSet" && owner.Name == setName
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

// snapshot is what a plan is made from. Like the controller's, it holds what the caches
// hold; nil while the CloneSet is not there.
func (o *observer) snapshot() *cloneset.Snapshot {
	set, err := o.sets.CloneSets(o.namespace).Get(setName)
	if err != nil {
		return nil
	}
	s := &cloneset.Snapshot{Set: set, Now: time.Now()}
	pods, _ := o.pods.Pods(o.namespace).List(labels.Everything()) // a cache gives no error
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, set) {
			s.Pods = append(s.Pods, pod)
		}
	}
	revisions, _ := o.revisions.ControllerRevisions(o.namespace).List(labels.Everything())
	for _, revision := range revisions {
		if metav1.IsControlledBy(revision, set) {
			s.Revisions = append(s.Revisions, revision)
		}
	}
	return s
}

// listPods reads the pods of the CloneSet from the API server.
func listPods(ctx context.Context, core kubernetes.Interface, s *cloneset.Snapshot) ([]*corev1.Pod, error) {
	list, err := core.CoreV1().Pods(s.Set.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of namespace %s: %w", s.Set.Namespace, err)
	}
	var out []*corev1.Pod
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], s.Set) {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}
