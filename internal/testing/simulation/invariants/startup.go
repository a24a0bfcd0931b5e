// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// asked is how much later than its startup probe has its turn it is known what that says.
const asked = 5 * time.Second

// starting names the containers of a pod, native sidecars among them, whose kubelet says that they have started, and that have not
// come up. Kubelets of simulations have the startup probe succeed after two and a half periods, and ask it after one. If one says
// then that a container has started which has not, a cache is behind, and that is what its reader has to believe. (IP-45)
func starting(pod *corev1.Pod, now time.Time) (names []string) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		s := statusOf(pod, c.Name)
		if c.StartupProbe == nil || s.State.Running == nil || !ptr.Deref(s.Started, false) {
			continue
		}
		period := time.Duration(cmp.Or(c.StartupProbe.PeriodSeconds, 10)) * time.Second
		if age := now.Sub(s.State.Running.StartedAt.Time); age < 5*period/2 && age < period+asked {
			names = append(names, c.Name)
		}
	}
	return names
}
