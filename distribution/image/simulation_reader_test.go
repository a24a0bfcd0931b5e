// SPDX-License-Identifier: Apache-2.0

package image

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/simulation"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// simulatedReader reads the caches of a process, for both controllers. Pull secrets are not copied, and no workload controls the job.
type simulatedReader struct {
	caches.Reader
}

func newSimulatedReader(p *simulation.Process) (simulatedReader, error) {
	r := simulatedReader{caches.Reader{}}
	for _, resource := range []podwright.Resource{imagePullJobs, nodeImages, "secrets", caches.Pods, caches.Nodes} {
		informer := p.Informer(string(resource))
		if err := caches.AddNamespaceIndex(informer); err != nil {
			return r, err
		}
		r.Reader[resource] = informer.GetIndexer()
	}
	return r, nil
}

func (r simulatedReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return caches.Get[*v1alpha1.ImagePullJob](r.Reader, imagePullJobs, namespace, name)
}

func (r simulatedReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return caches.Get[*v1alpha1.NodeImage](r.Reader, nodeImages, "", name)
}

func (r simulatedReader) NodeImages() ([]*v1alpha1.NodeImage, error) {
	return caches.List[*v1alpha1.NodeImage](r.Reader, nodeImages, "", labels.Everything())
}

func (r simulatedReader) Node(name string) (*corev1.Node, error) {
	return caches.Get[*corev1.Node](r.Reader, caches.Nodes, "", name)
}

func (r simulatedReader) Pods(namespace string, selector labels.Selector) ([]*corev1.Pod, error) {
	return caches.List[*corev1.Pod](r.Reader, caches.Pods, namespace, selector)
}

func (r simulatedReader) CloneSet(_, name string) (*workloadsv1alpha1.CloneSet, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "clonesets"}, name)
}

func (r simulatedReader) StatefulSet(_, name string) (*workloadsv1beta1.StatefulSet, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "statefulsets"}, name)
}

func (r simulatedReader) Copies(types.NamespacedName) ([]*corev1.Secret, error) { return nil, nil }

func (r simulatedReader) PullPods(string) ([]*corev1.Pod, error) { return nil, nil }
