// SPDX-License-Identifier: Apache-2.0

package kubeletpods

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// kubelet serves pods as a kubelet does.
type kubelet struct {
	*testing.T
	podsv1alpha1.UnimplementedPodsServer

	lock    sync.Mutex
	pods    map[types.UID]*corev1.Pod
	streams map[chan *podsv1alpha1.WatchPodsEvent]bool
	asked   int // how often for a single pod
}

// serve serves a kubelet at a socket.
func serve(t *testing.T) (k *kubelet, socket string) {
	t.Helper()
	k = &kubelet{T: t, pods: map[types.UID]*corev1.Pod{}, streams: map[chan *podsv1alpha1.WatchPodsEvent]bool{}}
	socket = filepath.Join(t.TempDir(), "pods.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podsv1alpha1.RegisterPodsServer(server, k)
	go func() { _ = server.Serve(listener) }() // until Stop
	t.Cleanup(server.Stop)
	return k, socket
}

func (k *kubelet) WatchPods(_ *podsv1alpha1.WatchPodsRequest, stream podsv1alpha1.Pods_WatchPodsServer) error {
	events := make(chan *podsv1alpha1.WatchPodsEvent, 100)
	k.lock.Lock()
	for _, pod := range k.pods {
		events <- k.event(podsv1alpha1.EventType_ADDED, pod)
	}
	events <- &podsv1alpha1.WatchPodsEvent{Type: podsv1alpha1.EventType_INITIAL_SYNC_COMPLETE}
	k.streams[events] = true
	k.lock.Unlock()
	for {
		select {
		case event, ok := <-events:
			if !ok {
				return status.Error(codes.ResourceExhausted, "watch client channel closed")
			}
			if err := stream.Send(event); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func (k *kubelet) GetPod(_ context.Context, request *podsv1alpha1.GetPodRequest) (*podsv1alpha1.GetPodResponse, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.asked++
	pod := k.pods[types.UID(request.GetPodUID())]
	if pod == nil {
		return nil, status.Error(codes.NotFound, "not found")
	}
	return &podsv1alpha1.GetPodResponse{Pod: k.event(podsv1alpha1.EventType_MODIFIED, pod).GetPod()}, nil
}

func (k *kubelet) event(kind podsv1alpha1.EventType, pod *corev1.Pod) *podsv1alpha1.WatchPodsEvent {
	data, err := pod.Marshal()
	if err != nil {
		k.Error(err)
	}
	return &podsv1alpha1.WatchPodsEvent{Type: kind, Pod: data}
}

// set has the kubelet know a pod, and tell of it.
func (k *kubelet) set(pod *corev1.Pod) { k.change(pod, podsv1alpha1.EventType_MODIFIED) }

// quietly has the kubelet know a pod, and not tell of it.
func (k *kubelet) quietly(pod *corev1.Pod) { k.change(pod, podsv1alpha1.EventType_UNSPECIFIED) }

func (k *kubelet) change(pod *corev1.Pod, tell podsv1alpha1.EventType) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.pods[pod.UID] = pod.DeepCopy()
	if tell == podsv1alpha1.EventType_DELETED {
		delete(k.pods, pod.UID)
	}
	for events := range k.streams {
		if tell != podsv1alpha1.EventType_UNSPECIFIED {
			events <- k.event(tell, pod)
		}
	}
}

// hangUp ends all streams.
func (k *kubelet) hangUp() {
	k.lock.Lock()
	defer k.lock.Unlock()
	for events := range k.streams {
		close(events)
		delete(k.streams, events)
	}
}

// timesAsked returns how often the kubelet was asked for a pod.
func (k *kubelet) timesAsked() int {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.asked
}

func newPod(name, version string, updating bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "4711", Labels: map[string]string{"version": version},
	}}
	if updating {
		pod.Status.Conditions = []corev1.PodCondition{{Type: v1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse}}
	}
	return pod
}

// node is an informer of the pods of a kubelet, with a clock that the test moves.
type node struct {
	*kubelet
	informer cache.SharedIndexInformer
	clock    *clocktesting.FakeClock
}

func start(t *testing.T, pods ...*corev1.Pod) *node {
	t.Helper()
	k, socket := serve(t)
	for _, pod := range pods {
		k.quietly(pod)
	}
	conn, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{kubelet: k, clock: clocktesting.NewFakeClock(time.Now())}
	n.informer = NewInformer(conn, n.clock)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.informer.RunWithContext(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		conn.Close()
	})
	if !cache.WaitForCacheSync(ctx.Done(), n.informer.HasSynced) {
		t.Fatal("the informer does not sync")
	}
	return n
}

// until waits until something is so, and moves the clock meanwhile.
func (n *node) until(what string, is func() bool) {
	n.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			n.Fatalf("%s does not come about; pods %v", what, n.informer.GetStore().ListKeys())
		}
		n.clock.Step(askEvery / 10)
	}
}

// version returns the label of a pod; empty if there is none.
func (n *node) version(name string) string {
	object, found, err := n.informer.GetStore().GetByKey("shop/" + name)
	if err != nil || !found {
		return ""
	}
	return object.(*corev1.Pod).Labels["version"]
}

func (n *node) has(name, version string) func() bool {
	return func() bool { return n.version(name) == version }
}
