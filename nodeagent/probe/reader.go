// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// resourceNodePodProbes is the cache that a Reconciler reads, and waits for.
const resourceNodePodProbes podwright.Resource = "nodepodprobes"

// Reader reads caches. What it returns is shared with the cache: a Reconciler
// never changes it.
// Reconcile does not wait until a cache that cannot tell how far it is has come to
// its last write. New makes a Reader over informers; another lets a Reconciler run on
// the caches of another framework.
type Reader interface {
	podwright.Caches
	// NodePodProbe returns the NodePodProbe of a node, or an error for which
	// apierrors.IsNotFound holds.
	NodePodProbe(name string) (*v1alpha1.NodePodProbe, error)
}

// informerReader reads an informer.
type informerReader struct{ caches.Reader }

func newInformerReader(c caches.Reader) Reader { return informerReader{c} }

func (r informerReader) NodePodProbe(name string) (*v1alpha1.NodePodProbe, error) {
	return caches.Get[*v1alpha1.NodePodProbe](r.Reader, resourceNodePodProbes, "", name)
}

// nodePodProbe returns a NodePodProbe; nil if it does not exist.
func (r *reconciler) nodePodProbe(name string) (*v1alpha1.NodePodProbe, error) {
	n, err := apiwriter.Found(r.reader.NodePodProbe(name))
	if err != nil {
		return nil, fmt.Errorf("read NodePodProbe %s: %w", name, err)
	}
	return n, nil
}
