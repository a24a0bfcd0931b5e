package recreate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Resource names a cache: ResourceRequests or ResourcePods.
type Resource = consistency.Resource

// The caches that a Reconciler reads.
const (
	ResourceRequests Resource = "containerrecreaterequests"
	ResourcePods     Resource = consistency.Pods
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// Request returns a request, or an error for which apierrors.IsNotFound
	// holds.
	Request(namespace, name string) (*v1alpha1.ContainerRecreateRequest, error)
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds.
	Pod(namespace, name string) (*corev1.Pod, error)
	// Seen returns the resourceVersion up to which a cache is complete, empty
	// when it cannot tell. A Reconciler waits until it has seen its own writes;
	// where Seen cannot tell, it makes no pass, unless Options.AllowStaleReads
	// says so.
	Seen(Resource) string
}

// informerReader reads informers.
type informerReader struct {
	caches.Stores
	requests client.ContainerRecreateRequestLister
	pods     corelisters.PodLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores:   caches.Stores{ResourceRequests: o.Requests.GetStore(), ResourcePods: o.Pods.GetStore()},
		requests: client.NewContainerRecreateRequestLister(o.Requests.GetIndexer()),
		pods:     corelisters.NewPodLister(o.Pods.GetIndexer()),
	}
}

func (r *informerReader) Request(namespace, name string) (*v1alpha1.ContainerRecreateRequest, error) {
	return r.requests.Namespace(namespace).Get(name)
}

func (r *informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}

// observe reads everything that a plan for the request depends on. It returns
// nil when the request does not exist.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	request, err := r.reader.Request(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		r.running.forget(key)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ContainerRecreateRequest %s: %w", key, err)
	}
	pod, err := r.reader.Pod(key.Namespace, request.Spec.PodName)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("read pod %s of ContainerRecreateRequest %s: %w", request.Spec.PodName, key, err)
	}
	if err != nil {
		pod = nil
	}
	return &Snapshot{Request: request, Pod: pod, Seen: r.running.saw(key, request), Now: r.clock.Now()}, nil
}
