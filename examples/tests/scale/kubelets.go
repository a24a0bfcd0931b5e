// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// parallel is how many requests are made at the same time.
const parallel = 32

// kubelets plays scheduler and kubelets for the pods that match a selector, until stop is called.
func kubelets(core kubernetes.Interface, selector string) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactoryWithOptions(core, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector }))
	pods, queue := factory.Core().V1().Pods().Informer(), workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	changed := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	_, _ = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, object any) { changed(object) }}) // it fails for an informer that has ended
	kubelet := &fakecluster.Kubelet{Client: core, Schedule: func(*corev1.Pod) string { return firstNode }}
	var running sync.WaitGroup
	running.Go(func() { pods.RunWithContext(ctx) })
	for range parallel {
		running.Go(func() {
			for {
				key, ended := queue.Get()
				if ended {
					return
				}
				object, exists, _ := pods.GetStore().GetByKey(key)
				if !exists || kubelet.SyncPod(ctx, object.(*corev1.Pod)) == nil {
					queue.Forget(key)
				} else {
					queue.AddRateLimited(key)
				}
				queue.Done(key)
			}
		})
	}
	return func() {
		end()
		queue.ShutDown()
		running.Wait()
	}
}
