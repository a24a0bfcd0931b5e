package launchpriority

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// Reader reads a cache of pods. What it returns is shared with the cache: a
// Reconciler never changes it. Its method is called by several goroutines.
//
// New makes a Reader over an informer. An implementation of one's own lets a
// Reconciler run on the cache of another framework.
type Reader interface {
	// Pod returns a pod, or an error for which apierrors.IsNotFound holds. Of
	// its spec, the containers and the restart policy are read.
	Pod(namespace, name string) (*corev1.Pod, error)
}

// informerReader reads an informer of pods.
type informerReader struct{ pods corelisters.PodLister }

func newInformerReader(pods cache.SharedIndexInformer) informerReader {
	return informerReader{corelisters.NewPodLister(pods.GetIndexer())}
}

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}

// observe reads everything that a plan for the pod depends on. It returns nil
// where there is no such pod, or nothing to decide about it: then the ConfigMap
// is not read.
//
// The ConfigMap comes from the API server itself. So a pass sees what the one
// before it wrote, and one that somebody has deleted is missed.
func (r *Reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := r.reader.Pod(key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", key, err)
	}
	if _, found := turnOf(pod); !found {
		return nil, nil
	}
	name := barrier.ConfigMapName(key.Name)
	configMap, err := r.configMaps.ConfigMaps(key.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &Snapshot{Pod: pod}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", key.Namespace, name, err)
	}
	return &Snapshot{Pod: pod, ConfigMap: configMap}, nil
}
