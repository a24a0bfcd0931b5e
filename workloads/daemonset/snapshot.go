// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Set is the DaemonSet. Required.
	Set *v1alpha1.DaemonSet
	// Revisions are those that the DaemonSet owns, and those without a
	// controller that match its selector, in any order.
	Revisions []*appsv1.ControllerRevision
	// Pods are those that the DaemonSet controls, and those without a
	// controller that match its selector, whatever their phase, in any order.
	Pods []*corev1.Pod
	// Nodes are all nodes of the cluster, in any order.
	Nodes []*corev1.Node
	// Jobs names the image pull jobs that the DaemonSet controls.
	Jobs []string
	// BackOff says when pods that have ended may be replaced, by the names of their
	// nodes. On a node that is not named they may be replaced at once.
	BackOff map[string]time.Time
	// Taken holds names that no new pod can have, since pods have them that are not
	// among Pods.
	Taken map[string]bool
	// Former names the pods that nodes had last, and that are gone, by the names of the nodes, as far
	// as a controller remembers. No new pod has the name of one that it replaces.
	Former map[string]string
	// Refused are the updates in place that the API server has refused.
	Refused rollout.Refusals
	// RefusedNodes names nodes for which the API server has refused the last creation
	// of a pod: they are tried after all others.
	RefusedNodes map[string]bool
	// Disrupted names nodes whose pod an update has taken out of service, as far as a
	// controller remembers. They have had no available pod since. Nodes that are not
	// named are judged by their pods.
	Disrupted map[string]bool
	// HeldSince is when what holds the DaemonSet up began, as far as a controller remembers. (DS-23)
	HeldSince map[rollout.Subject]time.Time
	// Now is the time for which to plan. Required.
	Now time.Time
	// Features switches behaviour.
	Features Features
}

// selector returns the DaemonSet's selector, which selects something.
func (s *Snapshot) selector() (labels.Selector, error) { return podplan.Selector(s.Set.Spec.Selector) }
