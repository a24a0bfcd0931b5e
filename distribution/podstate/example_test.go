// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
)

// Where a pod is placed that is created again, while its node is there, and once it is gone.
func Example() {
	s := newState(requires(host))
	pods := []*corev1.Pod{newPod("web-0", "a1")}

	record := podstate.Compute(podstate.Input{State: s, Workload: newWorkload(1), Pods: pods, Nodes: newNodes("a1", "b1"), Now: start})
	s.Status = record.Status // a controller writes it

	for _, nodes := range []*podstate.Nodes{newNodes("a1", "b1"), newNodes("b1")} {
		placed := podstate.Place(s, newPod("web-0", ""), nodes)
		fmt.Printf("%v %q\n", placed.Pod.Spec.NodeSelector, placed.Reason)
	}
	// Output:
	// map[kubernetes.io/hostname:a1] ""
	// map[] "it ran at kubernetes.io/hostname=a1, and no node is there any more"
}
