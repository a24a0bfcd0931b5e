package nodeimage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/internal/images"
)

// Resource names a cache.
type Resource = consistency.Resource

// ResourceNodeImages is the cache that a Reconciler writes to, and so waits for.
const ResourceNodeImages Resource = "nodeimages"

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
	// Seen returns the resourceVersion up to which a cache is complete, empty
	// when it cannot tell. A Reconciler waits until it has seen its own writes;
	// where Seen cannot tell, it makes no pass, unless Options.AllowStaleReads
	// says so.
	Seen(Resource) string
}

type informerReader struct {
	caches.Stores
	nodeImages client.NodeImageLister
	nodes      corev1listers.NodeLister
	jobs       client.ImagePullJobLister
}

func newInformerReader(o *Options) *informerReader {
	return &informerReader{
		Stores:     caches.Stores{ResourceNodeImages: o.NodeImages.GetStore()},
		nodeImages: client.NewNodeImageLister(o.NodeImages.GetIndexer()),
		nodes:      corev1listers.NewNodeLister(o.Nodes.GetIndexer()),
		jobs:       client.NewImagePullJobLister(o.ImagePullJobs.GetIndexer()),
	}
}

func (r *informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return r.nodeImages.Get(name)
}

func (r *informerReader) Node(name string) (*corev1.Node, error) { return r.nodes.Get(name) }

func (r *informerReader) ImagePullJob(namespace, name string) (*v1alpha1.ImagePullJob, error) {
	return r.jobs.Namespace(namespace).Get(name)
}

// observe reads everything that a plan for the node depends on. It returns nil
// when there is neither the node nor its NodeImage.
func (r *Reconciler) observe(key types.NamespacedName) (*Snapshot, error) {
	s := &Snapshot{Now: r.clock.Now(), Timing: r.timing}
	var err error
	if s.Node, err = found(r.reader.Node(key.Name)); err != nil {
		return nil, fmt.Errorf("read node %s: %w", key.Name, err)
	}
	if s.NodeImage, err = found(r.reader.NodeImage(key.Name)); err != nil {
		return nil, fmt.Errorf("read NodeImage %s: %w", key.Name, err)
	}
	if s.NodeImage == nil {
		if s.Node == nil {
			return nil, nil
		}
		return s, nil
	}
	s.Jobs = map[types.UID]*v1alpha1.ImagePullJob{}
	for _, owner := range images.TaskJobs(s.NodeImage) {
		name, _ := images.TaskJob(owner)
		job, err := found(r.reader.ImagePullJob(name.Namespace, name.Name))
		if err != nil {
			return nil, fmt.Errorf("read ImagePullJob %s: %w", name, err)
		}
		if job != nil && job.UID == owner.UID {
			s.Jobs[owner.UID] = job
		}
	}
	return s, nil
}

// found returns nil for what does not exist.
func found[T any](object *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}
