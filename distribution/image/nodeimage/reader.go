// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. If there is
// no such object, they return an error for which apierrors.IsNotFound holds. New makes
// one over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
	// NodeImage returns the NodeImage of a node.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
	// Node returns a node.
	Node(name string) (*corev1.Node, error)
	// ImagePullJob returns a job.
	ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error)
	// PullPods returns the pods that have images pulled to a node, those whose
	// annotation v1alpha1.PullPodTaskAnnotation names it, in any order. It is called
	// if Options.PullPods is set.
	PullPods(node string) ([]*corev1.Pod, error)
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return caches.Get[*v1alpha1.NodeImage](r.Reader, resourceNodeImages, "", name)
}

func (r informerReader) Node(name string) (*corev1.Node, error) {
	return caches.Get[*corev1.Node](r.Reader, caches.Nodes, "", name)
}

func (r informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return caches.Get[*v1alpha1.ImagePullJob](r.Reader, resourceImagePullJobs, namespace, name)
}

func (r informerReader) PullPods(node string) ([]*corev1.Pod, error) {
	return caches.PullPodsOf(r.Reader[resourcePods], node)
}
