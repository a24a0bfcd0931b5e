// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. Where there is
// no such object, they return an error for which apierrors.IsNotFound holds.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// ImagePullJob returns a job.
	ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error)
	// NodeImage returns the NodeImage of a node.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
	// NodeImages returns all of them, in any order.
	NodeImages() ([]*v1alpha1.NodeImage, error)
	// Pods returns the pods of the namespace that match, in any order.
	Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error)
	// CloneSet returns a CloneSet. A Reader that knows none finds none.
	CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error)
	// StatefulSet returns a StatefulSet of apps.kruise.io. A Reader that knows
	// none finds none.
	StatefulSet(namespace, name string) (*workloadsv1beta1.StatefulSet, error)
	// Copies returns the copies of pull secrets that a job needs, those in
	// v1alpha1.DaemonConfigNamespace that name it in
	// v1alpha1.PullSecretReferencesAnnotation, in any order. One that names no job
	// at all stands for the job of its own namespace and name.
	Copies(job types.NamespacedName) ([]*corev1.Secret, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile returns an error, unless
	// Options.AllowStaleReads is set.
	SyncedResourceVersion(Resource) string
}

type informerReader struct {
	caches.Stores
	jobs         client.ImagePullJobLister
	nodeImages   client.NodeImageLister
	pods         corev1listers.PodLister
	copies       cache.Indexer
	cloneSets    workloadsclient.CloneSetLister    // nil: none are known
	statefulSets workloadsclient.StatefulSetLister // nil: none are known
}

func newInformerReader(o *Options) *informerReader {
	r := &informerReader{
		Stores:     controller.Stores(reads(o)),
		jobs:       client.NewImagePullJobLister(o.ImagePullJobs.GetIndexer()),
		nodeImages: client.NewNodeImageLister(o.NodeImages.GetIndexer()),
		pods:       corev1listers.NewPodLister(o.Pods.GetIndexer()),
		copies:     o.Copies.GetIndexer(),
	}
	if o.CloneSets != nil {
		r.cloneSets = workloadsclient.NewCloneSetLister(o.CloneSets.GetIndexer())
	}
	if o.StatefulSets != nil {
		r.statefulSets = workloadsclient.NewStatefulSetLister(o.StatefulSets.GetIndexer())
	}
	return r
}

func (r *informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return r.jobs.Namespace(namespace).Get(name)
}

func (r *informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return r.nodeImages.Get(name)
}

func (r *informerReader) NodeImages() ([]*v1alpha1.NodeImage, error) {
	return r.nodeImages.List(labels.Everything())
}

func (r *informerReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return r.pods.Pods(namespace).List(selector)
}

func (r *informerReader) Copies(job types.NamespacedName) ([]*corev1.Secret, error) {
	return caches.CopiesFor(r.copies, job)
}

func (r *informerReader) CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error) {
	if r.cloneSets == nil {
		return nil, apierrors.NewNotFound(workloadsv1alpha1.Resource("clonesets"), name)
	}
	return r.cloneSets.Namespace(namespace).Get(name)
}

func (r *informerReader) StatefulSet(namespace, name string) (*workloadsv1beta1.StatefulSet, error) {
	if r.statefulSets == nil {
		return nil, apierrors.NewNotFound(workloadsv1beta1.Resource("statefulsets"), name)
	}
	return r.statefulSets.Namespace(namespace).Get(name)
}
