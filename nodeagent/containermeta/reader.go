// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
)

// resourcePods is the cache that a Reconciler reads.
const resourcePods podwright.Resource = caches.Pods

// pod returns a pod; nil if it does not exist.
func (r *reconciler) pod(key types.NamespacedName) (*corev1.Pod, error) {
	pod, err := caches.Get[*corev1.Pod](r.reader, resourcePods, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", key, err)
	}
	return pod, nil
}
