// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/consistency"
)

// Resource names a cache: ResourceNodeImages.
type Resource = consistency.Resource

// ResourceNodeImages is the cache that a Reconciler reads, and waits for.
const ResourceNodeImages Resource = "nodeimages"

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it.
//
// New makes a Reader over informers. An implementation of one's own lets a
// Reconciler run on the caches of another framework.
type Reader interface {
	// NodeImage returns the NodeImage of a node, or an error for which
	// apierrors.IsNotFound holds.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
	// SyncedResourceVersion returns the resourceVersion up to which a cache is
	// complete, empty when it cannot tell: then Reconcile does not wait until the
	// cache is at the resourceVersion of its last write.
	SyncedResourceVersion(Resource) string
}

// informerReader reads an informer.
type informerReader struct {
	caches.Stores
	nodeImages client.NodeImageLister
}

func newInformerReader(nodeImages cache.SharedIndexInformer) *informerReader {
	return &informerReader{
		Stores:     caches.Stores{ResourceNodeImages: nodeImages.GetStore()},
		nodeImages: client.NewNodeImageLister(nodeImages.GetIndexer()),
	}
}

func (r *informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return r.nodeImages.Get(name)
}

// nodeImage returns a NodeImage; nil where it does not exist.
func (r *Reconciler) nodeImage(name string) (*v1alpha1.NodeImage, error) {
	n, err := r.reader.NodeImage(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read NodeImage %s: %w", name, err)
	}
	return n, nil
}
