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

// nodePodProbe returns a NodePodProbe; nil if it does not exist.
func (r *reconciler) nodePodProbe(name string) (*v1alpha1.NodePodProbe, error) {
	n, err := apiwriter.Found(caches.Get[*v1alpha1.NodePodProbe](r.reader, resourceNodePodProbes, "", name))
	if err != nil {
		return nil, fmt.Errorf("read NodePodProbe %s: %w", name, err)
	}
	return n, nil
}
