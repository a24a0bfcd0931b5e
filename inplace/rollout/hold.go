// SPDX-License-Identifier: Apache-2.0

package rollout

import corev1 "k8s.io/api/core/v1"

// Hold is one thing that keeps a workload from its spec. A hold that lasts for a minute is told by the condition HeldUp.
type Hold struct {
	HoldKey
	// Reason is what is waited for; nil if the state of Pod alone says it.
	Reason *Reason
	// Pod is the pod that is not available, or that waits. Nil: the hold is about no pod.
	Pod *corev1.Pod
}

// HoldKey names what holds a workload up from one plan to the next.
type HoldKey struct {
	// Kind is that of the object, in lower case, such as pod or node. Empty: the hold is about the whole workload.
	Kind string
	// Name is that of the object, or else the rule.
	Name string
}
