// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// Clocks of kubelets: those of one history in so many are wrong, each by so much, forward or back.
const (
	wrongOneIn = 4
	wrongBy    = 10 * time.Minute
)

// wrong is a clock that is ahead by a time, or behind.
type wrong struct {
	clock.RealClock
	by time.Duration
}

// Now returns what the clock shows.
func (w wrong) Now() time.Time { return w.RealClock.Now().Add(w.by) }

// clockOf is the clock of the kubelet of a pod. If the kind is not about nodes, each pod has a kubelet of its own. In histories with
// startup probes all clocks are right, since only the kubelet's clock tells when it has probed. (IP-45)
func (h *history) clockOf(pod *corev1.Pod) clock.PassiveClock {
	if h.workload.StartupProbes {
		return clock.RealClock{}
	}
	if rand.New(rand.NewPCG(h.seed, 1<<36)).IntN(wrongOneIn) > 0 {
		return clock.RealClock{}
	}
	kubelet := string(pod.UID)
	if h.hasNodes() {
		kubelet = cmp.Or(pod.Spec.NodeName, h.schedule(pod))
	}
	sum := fnv.New32a()
	sum.Write([]byte(kubelet))
	return wrong{by: wrongBy * (time.Duration(sum.Sum32()%3) - 1)}
}
