// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. Where there is
// no such object, they return an error for which apierrors.IsNotFound holds.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// NodeImage returns the NodeImage of a node.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
	// Node returns a node.
	Node(name string) (*corev1.Node, error)
	// ImagePullJob returns a job.
	ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error)
	// PullPods returns the pods that have images pulled to a node, those whose
	// annotation v1alpha1.PullPodTaskAnnotation names it, in any order. It is called
	// where Options.PullPods is set.
	PullPods(node string) ([]*corev1.Pod, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set.
	SyncedResourceVersion(Resource) string
}

type informerReader struct {
	caches.Stores
	nodeImages client.NodeImageLister
	nodes      corev1listers.NodeLister
	jobs       client.ImagePullJobLister
	pods       cache.Indexer // nil without Options.PullPods
}

func newInformerReader(o *Options) *informerReader {
	r := &informerReader{
		Stores:     controller.Stores(reads(o)),
		nodeImages: client.NewNodeImageLister(o.NodeImages.GetIndexer()),
		nodes:      corev1listers.NewNodeLister(o.Nodes.GetIndexer()),
		jobs:       client.NewImagePullJobLister(o.ImagePullJobs.GetIndexer()),
	}
	if o.PullPods != nil {
		r.pods = o.Pods.GetIndexer()
	}
	return r
}

func (r *informerReader) PullPods(node string) ([]*corev1.Pod, error) {
	return caches.PullPodsOf(r.pods, node)
}

func (r *informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return r.nodeImages.Get(name)
}

func (r *informerReader) Node(name string) (*corev1.Node, error) { return r.nodes.Get(name) }

func (r *informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return r.jobs.Namespace(namespace).Get(name)
}
