// SPDX-License-Identifier: Apache-2.0

package kubeletpods

import (
	"context"
	"hash/fnv"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// How often a pod is asked for of which the kubelet may not tell, and how long after a
// change. Then the longest pause between two tries to reach a kubelet that is gone.
const (
	askEvery         = 2 * time.Second
	askAfterChange   = 10 * time.Second
	longestReconnect = 3 * time.Second
)

// watcher is the rest of a stream.
type watcher struct {
	*source
	stream *stream
	result chan watch.Event
	done   context.Context
	stop   context.CancelFunc
	// asked are the pods that are asked for.
	asked map[types.UID]*asked
}

// asked is a pod that is asked for.
type asked struct {
	sum      uint64    // of what is known of it
	until    time.Time // when to end that
	updating bool      // not before that is over
}

func newWatcher(s *source, begun *stream) *watcher {
	done, stop := context.WithCancel(context.Background())
	w := &watcher{source: s, stream: begun, result: make(chan watch.Event), done: done, stop: stop, asked: map[types.UID]*asked{}}
	for _, pod := range begun.pods {
		if updating(pod) {
			w.asked[pod.UID] = &asked{updating: true}
		}
	}
	begun.pods = nil
	go w.run()
	return w
}

// ResultChan returns the events; it is closed when the stream ends.
func (w *watcher) ResultChan() <-chan watch.Event { return w.result }

// Stop ends the stream.
func (w *watcher) Stop() { w.stop() }

func (w *watcher) run() {
	defer close(w.result)
	defer w.stream.end()
	defer w.stop()
	events := make(chan *podsv1alpha1.WatchPodsEvent)
	go func() {
		defer close(events)
		for {
			event, err := w.stream.Recv()
			if err != nil {
				return
			}
			select {
			case events <- event:
			case <-w.done.Done():
				return
			}
		}
	}()
	ticker := w.clock.NewTicker(askEvery)
	defer ticker.Stop()
	for {
		select {
		case event, ok := <-events:
			if !ok || !w.handle(event) {
				return
			}
		case <-ticker.C():
			w.askAll()
		case <-w.done.Done():
			return
		}
	}
}

var eventTypes = map[podsv1alpha1.EventType]watch.EventType{
	podsv1alpha1.EventType_ADDED: watch.Added, podsv1alpha1.EventType_MODIFIED: watch.Modified, podsv1alpha1.EventType_DELETED: watch.Deleted,
}

// handle passes an event on. What cannot be read ends the stream: a list begins anew.
func (w *watcher) handle(event *podsv1alpha1.WatchPodsEvent) bool {
	kind, known := eventTypes[event.GetType()]
	if !known {
		return true
	}
	pod, err := decode(event.GetPod())
	if err != nil {
		return false
	}
	if kind == watch.Deleted {
		delete(w.asked, pod.UID)
		return w.send(kind, pod)
	}
	w.changed(pod, event.GetPod())
	return w.send(kind, pod)
}

// changed has a pod asked for that has changed.
func (w *watcher) changed(pod *corev1.Pod, data []byte) {
	w.asked[pod.UID] = &asked{sum: sum(data), until: w.clock.Now().Add(askAfterChange), updating: updating(pod)}
}

func (w *watcher) send(kind watch.EventType, pod *corev1.Pod) bool {
	select {
	case w.result <- watch.Event{Type: kind, Object: pod}:
		return true
	case <-w.done.Done():
		return false
	}
}

// askAll asks for the pods that may have changed in what the kubelet does not tell of.
// One that is not there any more is left to the stream, which tells of its end.
func (w *watcher) askAll() {
	ctx, cancel := context.WithTimeout(w.done, askEvery)
	defer cancel()
	for uid, known := range w.asked {
		answer, err := w.client.GetPod(ctx, &podsv1alpha1.GetPodRequest{PodUID: string(uid)})
		if status.Code(err) == codes.NotFound {
			delete(w.asked, uid)
		}
		if err != nil {
			continue
		}
		if sum(answer.GetPod()) != known.sum {
			pod, err := decode(answer.GetPod())
			if err != nil || pod.UID != uid || !w.sendChanged(pod, answer.GetPod()) {
				return
			}
			continue
		}
		if !known.updating && w.clock.Now().After(known.until) {
			delete(w.asked, uid)
		}
	}
}

func (w *watcher) sendChanged(pod *corev1.Pod, data []byte) bool {
	w.changed(pod, data)
	return w.send(watch.Modified, pod)
}

func sum(data []byte) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write(data)
	return hash.Sum64()
}

// updating tells whether a pod is being updated in place.
func updating(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == v1alpha1.InPlaceUpdateReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
