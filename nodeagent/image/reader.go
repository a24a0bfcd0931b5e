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

// nodeImage returns a NodeImage; nil if it does not exist.
func (r *reconciler) nodeImage(name string) (*v1alpha1.NodeImage, error) {
	n, err := caches.Get[*v1alpha1.NodeImage](r.reader, resourceNodeImages, "", name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read NodeImage %s: %w", name, err)
	}
	return n, nil
}
