// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it. Its methods are called by several goroutines. If there is
// no such object, they return an error for which apierrors.IsNotFound holds. New makes
// one over informers; another lets a Reconciler run on the caches of another framework.
type Reader interface {
	podwright.Caches
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
}

// informerReader reads informers that New has indexed.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return caches.Get[*v1alpha1.ImagePullJob](r.Reader, resourceImagePullJobs, namespace, name)
}

func (r informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return caches.Get[*v1alpha1.NodeImage](r.Reader, resourceNodeImages, "", name)
}

func (r informerReader) NodeImages() ([]*v1alpha1.NodeImage, error) {
	return caches.List[*v1alpha1.NodeImage](r.Reader, resourceNodeImages, "", labels.Everything())
}

func (r informerReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.List[*corev1.Pod](r.Reader, caches.Pods, namespace, selector)
}

func (r informerReader) CloneSet(namespace, name string) (*workloadsv1alpha1.CloneSet, error) {
	return caches.Get[*workloadsv1alpha1.CloneSet](r.Reader, resourceCloneSets, namespace, name)
}

func (r informerReader) StatefulSet(namespace, name string) (*workloadsv1beta1.StatefulSet, error) {
	return caches.Get[*workloadsv1beta1.StatefulSet](r.Reader, resourceStatefulSets, namespace, name)
}

func (r informerReader) Copies(job types.NamespacedName) ([]*corev1.Secret, error) {
	return caches.CopiesFor(r.Reader[resourceSecrets], job)
}
