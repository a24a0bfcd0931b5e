// SPDX-License-Identifier: Apache-2.0

// Package kubeletpods reads the pods of a node from its kubelet, so that a node agent
// lists and watches none at the API server. An agent that starts costs it nothing
// then, and one that loses it still sees what runs.
//
// A kubelet serves its pods on a socket since Kubernetes 1.37 (feature PodsAPI, beta).
// [NewInformer] returns an informer over that, to be used in place of
// that of nodeagent.NewPodInformer. What differs:
//
//   - The pods have no resourceVersion, since the kubelet does not keep it. A
//     Reconciler then has no consistency to wait for, and may repeat a patch.
//   - The kubelet tells of a pod when its own part of the status changes, and not
//     when labels, annotations or the conditions of others do. Therefore a pod is
//     asked for every 2 s, for 10 s after each change. The same holds while it is
//     updated in place, when its labels and annotations matter.
//   - Static pods have the UID that the kubelet gives them, not that of their mirror.
package kubeletpods

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/nodeagent"
)

// Socket is where a kubelet serves its pods, unless its folder is another one.
const Socket = "/var/lib/kubelet/pods-api/pods-api.sock"

// mostMessage is the size in bytes of the largest message: a pod can have as much as
// etcd takes.
const mostMessage = 4 << 20

// Dial returns a connection to the socket of a kubelet, a path or unix://path. It
// connects when it is used.
func Dial(socket string) (*grpc.ClientConn, error) {
	reconnect := backoff.DefaultConfig
	reconnect.MaxDelay = longestReconnect
	return grpc.NewClient("unix://"+strings.TrimPrefix(socket, "unix://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: longestReconnect}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(mostMessage)))
}

// Serves tells whether a kubelet serves its pods on a connection, also if it is not yet ready to. A socket can be left of
// one that no longer does.
func Serves(ctx context.Context, conn grpc.ClientConnInterface) bool {
	_, err := podsv1alpha1.NewPodsClient(conn).GetPod(ctx, &podsv1alpha1.GetPodRequest{PodUID: "none"})
	switch status.Code(err) {
	case codes.OK, codes.NotFound, codes.FailedPrecondition, codes.ResourceExhausted:
		return true
	}
	return false
}

// NewInformer returns an informer of the pods of a kubelet. The caller runs it, and
// closes the connection after that. A nil clock is the real one.
func NewInformer(conn grpc.ClientConnInterface, c clock.WithTicker) cache.SharedIndexInformer {
	if c == nil {
		c = clock.RealClock{}
	}
	informer := cache.NewSharedIndexInformer(&source{client: podsv1alpha1.NewPodsClient(conn), clock: c}, &corev1.Pod{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	_ = informer.SetTransform(nodeagent.Trim) // fails only once it runs
	return informer
}

// source is a kubelet as an informer reads it. A list is the beginning of a stream, and
// the watch after it the rest. So nothing is lost between the two.
type source struct {
	client podsv1alpha1.PodsClient
	clock  clock.WithTicker

	lock sync.Mutex
	open *stream // listed, and not yet watched
}

var _ cache.ListerWatcherWithContext = &source{}

// stream is a stream of events, and the pods that it began with.
type stream struct {
	grpc.ServerStreamingClient[podsv1alpha1.WatchPodsEvent]
	end  context.CancelFunc
	pods []*corev1.Pod
}

// IsWatchListSemanticsUnSupported has the informer list and then watch.
func (s *source) IsWatchListSemanticsUnSupported() bool { return true }

// List lists without a context.
func (s *source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch watches without a context.
func (s *source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// ListWithContext opens a stream and returns the pods that it begins with.
func (s *source) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	if before := s.take(nil); before != nil {
		before.end()
	}
	begun, err := s.begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the pods of the kubelet: %w", err)
	}
	list := &corev1.PodList{Items: make([]corev1.Pod, len(begun.pods))}
	for i, pod := range begun.pods {
		list.Items[i] = *pod
	}
	s.take(begun)
	return list, nil
}

// WatchWithContext returns what comes after the last list, once.
func (s *source) WatchWithContext(context.Context, metav1.ListOptions) (watch.Interface, error) {
	begun := s.take(nil)
	if begun == nil {
		return nil, errors.New("the stream of the kubelet has ended: list again")
	}
	return newWatcher(s, begun), nil
}

// take replaces the open stream, and returns the one before.
func (s *source) take(next *stream) (before *stream) {
	s.lock.Lock()
	defer s.lock.Unlock()
	before, s.open = s.open, next
	return before
}

// begin opens a stream and reads it as far as it tells what there is.
func (s *source) begin(ctx context.Context) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	events, err := s.client.WatchPods(ctx, &podsv1alpha1.WatchPodsRequest{})
	if err != nil {
		cancel()
		return nil, err
	}
	begun := &stream{ServerStreamingClient: events, end: cancel}
	for {
		event, err := events.Recv()
		if err != nil {
			cancel()
			return nil, err
		}
		if event.GetType() == podsv1alpha1.EventType_INITIAL_SYNC_COMPLETE {
			return begun, nil
		}
		pod, err := decode(event.GetPod())
		if err != nil {
			cancel()
			return nil, err
		}
		begun.pods = append(begun.pods, pod)
	}
}

// decode decodes a pod. The resourceVersion that it comes with is that at which the
// kubelet saw it first, and says nothing of what is in it now.
func decode(data []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(data); err != nil {
		return nil, fmt.Errorf("decode a pod: %w", err)
	}
	pod.ResourceVersion = ""
	return pod, nil
}
