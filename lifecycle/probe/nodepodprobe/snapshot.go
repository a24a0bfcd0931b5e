// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Node and NodePodProbe have the same name. One of them may be nil.
	Node         *corev1.Node
	NodePodProbe *v1alpha1.NodePodProbe
	// Pods are those on the node, in any order.
	Pods []*corev1.Pod
	// Markers are those of the namespaces of the pods, by namespace, in any order.
	Markers map[string][]*v1alpha1.PodProbeMarker
	// Namespace is that of Options: probes of pods elsewhere are left alone. Empty: there are none elsewhere.
	Namespace string
	// Serverless is that of Features.
	Serverless bool
	// Wrote are the last writes of this controller to pods of the node, by their UID.
	Wrote map[types.UID]Wrote
	// Now is the time for which to plan.
	Now time.Time
}

// Wrote is a write of results to a pod.
type Wrote struct {
	// Results says what results of which markers they were, see PodPatch.
	Results string
	// At is the time of the reconcile that made it.
	At time.Time
}

// againAfter is how long the same results are not written to a pod again. So commands that print something else each time
// cost no request a run. Two clients that want different things do not write in turn without end. (PPM-3.7)
const againAfter = 10 * time.Second
