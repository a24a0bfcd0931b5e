// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EvictionAwaited is how long a denied eviction is taken to be still wanted: a client that drains
// a node asks again every few seconds.
const EvictionAwaited = 5 * time.Minute

// AwaitsEviction returns for how long the eviction of a pod that was denied is still taken
// to be wanted. It is 0 if none was denied, it was denied too long ago, or the annotation cannot
// be read. A time that is still to come counts as now, since clocks differ. (LC-29)
func AwaitsEviction(pod *corev1.Pod, now time.Time) time.Duration {
	denied, err := time.Parse(time.RFC3339, pod.Annotations[v1alpha1.EvictionDeniedAnnotation])
	if err != nil || pod.DeletionTimestamp != nil {
		return 0
	}
	return min(max(denied.Add(EvictionAwaited).Sub(now), 0), EvictionAwaited)
}
