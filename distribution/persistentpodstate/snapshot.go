// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Snapshot is everything that a plan depends on: what was known at one moment. Its
// objects are shared with caches; nothing in this package changes them.
type Snapshot struct {
	// State is the PersistentPodState. Nil if there is none, and a workload of its name asks for
	// one.
	State *v1alpha1.PersistentPodState
	// Workload is the one that it names; nil if there is none.
	Workload *podstate.Workload
	// Pods are those that the workload controls, in any order.
	Pods []*corev1.Pod
	// Nodes are all nodes, in any order.
	Nodes []*corev1.Node
	// Namesakes are the workloads that have its name, of any kind. (PPS-21)
	Namesakes []*podstate.Workload
	// Unknown is why the workload is not known; nil if it is known whether there is one.
	Unknown error
	// Now is the time for which to plan.
	Now time.Time
}
