// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/kwok/pkg/utils/informer"
)

// repeatAfter is how long after a failed request its object is shown to KWOK again.
const repeatAfter = 500 * time.Millisecond

// feed shows a pod or a node to KWOK's controllers whenever it changes, and pods also when their node appears. After a
// request about one has failed, feed shows it again until none fails.
type feed struct {
	podInformer, nodeInformer cache.SharedIndexInformer
	pods                      chan informer.Event[*corev1.Pod]
	nodes                     chan informer.Event[*corev1.Node]
}

const byNode = "node"

func newFeed(client kubernetes.Interface) *feed {
	core := client.CoreV1().RESTClient()
	bound := fields.OneTermNotEqualSelector("spec.nodeName", "")
	f := &feed{
		podInformer: cache.NewSharedIndexInformer(
			cache.NewListWatchFromClient(core, "pods", "", bound), &corev1.Pod{}, 0,
			cache.Indexers{byNode: func(object any) ([]string, error) {
				return []string{object.(*corev1.Pod).Spec.NodeName}, nil
			}}),
		nodeInformer: cache.NewSharedIndexInformer(
			cache.NewListWatchFromClient(core, "nodes", "", fields.Everything()), &corev1.Node{}, 0, nil),
		pods:  make(chan informer.Event[*corev1.Pod]),
		nodes: make(chan informer.Event[*corev1.Node]),
	}
	return f
}

// run starts the informers; they end with the context.
func (f *feed) run(ctx context.Context) {
	_, _ = f.podInformer.AddEventHandler(forward(ctx, f.pods, func(*corev1.Pod) bool { return true }))
	_, _ = f.nodeInformer.AddEventHandler(forward(ctx, f.nodes, func(node *corev1.Node) bool {
		return node.Annotations["kwok.x-k8s.io/node"] == "fake"
	}))
	go f.podInformer.RunWithContext(ctx)
	go f.nodeInformer.RunWithContext(ctx)
}

// forward sends what an informer tells, if it is ours.
func forward[T runtime.Object](ctx context.Context, to chan<- informer.Event[T], ours func(T) bool) cache.ResourceEventHandler {
	tell := func(kind informer.EventType, object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		if object, ok := object.(T); ok && ours(object) {
			send(ctx, to, kind, object)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { tell(informer.Added, object) },
		UpdateFunc: func(_, object any) { tell(informer.Modified, object) },
		DeleteFunc: func(object any) { tell(informer.Deleted, object) },
	}
}

func send[T runtime.Object](ctx context.Context, to chan<- informer.Event[T], kind informer.EventType, object T) {
	select {
	case to <- informer.Event[T]{Type: kind, Object: object}:
	case <-ctx.Done():
	}
}

// sendPodsOf shows all pods of a node.
func (f *feed) sendPodsOf(ctx context.Context, node string) {
	pods, err := f.podInformer.GetIndexer().ByIndex(byNode, node)
	if err != nil {
		return
	}
	for _, pod := range pods {
		send(ctx, f.pods, informer.Sync, pod.(*corev1.Pod))
	}
}

// repeat shows again, as they are by then, the objects whose request paths arrive.
func (f *feed) repeat(ctx context.Context, paths <-chan string) {
	for {
		select {
		case path := <-paths:
			time.AfterFunc(repeatAfter, func() { f.sendObjectOf(ctx, path) })
		case <-ctx.Done():
			return
		}
	}
}

// sendObjectOf shows the pod or node that a request path names, if there still is one.
func (f *feed) sendObjectOf(ctx context.Context, path string) {
	parts := strings.Split(strings.TrimPrefix(path, "/api/v1/"), "/")
	switch {
	case len(parts) >= 4 && parts[0] == "namespaces" && parts[2] == "pods":
		if pod, ok := (storeGetter[*corev1.Pod]{f.podInformer.GetStore()}).GetWithNamespace(parts[3], parts[1]); ok {
			send(ctx, f.pods, informer.Sync, pod)
		}
	case len(parts) >= 2 && parts[0] == "nodes":
		if node, ok := (storeGetter[*corev1.Node]{f.nodeInformer.GetStore()}).Get(parts[1]); ok {
			send(ctx, f.nodes, informer.Modified, node)
		}
	}
}

// reportFailures makes a client tell the path of every PATCH and DELETE that did not succeed.
func reportFailures(failed chan<- string) transport.WrapperFunc {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if request.Method != http.MethodPatch && request.Method != http.MethodDelete {
				return response, err
			}
			if err != nil {
				failed <- request.URL.Path
				// KWOK repeats by itself what failed for a refused connection, but waits for up to half an hour. Without the
				// reason it leaves that to us.
				return response, errors.New(err.Error())
			}
			if response.StatusCode >= 400 {
				failed <- request.URL.Path
			}
			return response, err
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
