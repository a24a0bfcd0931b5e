// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
)

// resourceNodeImages is the cache that a Reconciler reads, and waits for.
const resourceNodeImages podwright.Resource = "nodeimages"

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it.
// Reconcile does not wait until a cache that cannot tell how far it is has come to
// its last write. New makes a Reader over informers; another lets a Reconciler run on
// the caches of another framework.
type Reader interface {
	podwright.Caches
	// NodeImage returns the NodeImage of a node, or an error for which
	// apierrors.IsNotFound holds.
	NodeImage(name string) (*v1alpha1.NodeImage, error)
}

// informerReader reads an informer.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) NodeImage(name string) (*v1alpha1.NodeImage, error) {
	return caches.Get[*v1alpha1.NodeImage](r.Reader, resourceNodeImages, "", name)
}

// nodeImage returns a NodeImage; nil if it does not exist.
func (r *reconciler) nodeImage(name string) (*v1alpha1.NodeImage, error) {
	n, err := r.reader.NodeImage(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read NodeImage %s: %w", name, err)
	}
	return n, nil
}
