// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
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

func newInformerReader(o *Options) informerReader {
	return informerReader{corelisters.NewPodLister(o.Pods.GetIndexer())}
}

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}
