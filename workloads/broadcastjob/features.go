// SPDX-License-Identifier: Apache-2.0

package broadcastjob

// Features are what a Controller can do otherwise.
type Features struct {
	// AssignDirectly assigns pods to their nodes by spec.nodeName, past the scheduler
	// and what it knows of other pods. Default false: the scheduler assigns them, held
	// to the node by the pod's node affinity.
	AssignDirectly bool
}
