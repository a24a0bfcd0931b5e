// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// report has the agent of a node report a state of one of its pods.
func report(ctx context.Context, probes client.NodePodProbeInterface, node, pod string, state v1alpha1.ProbeState) error {
	n, err := probes.Get(ctx, node, metav1.GetOptions{})
	if err != nil {
		return err
	}
	at := metav1.Now()
	for i := range n.Status.PodProbeStatuses {
		if s := &n.Status.PodProbeStatuses[i]; s.Name == pod {
			s.ProbeStates[0].State, s.ProbeStates[0].LastProbeTime, s.ProbeStates[0].LastTransitionTime = state, &at, &at
		}
	}
	_, err = probes.UpdateStatus(ctx, n, metav1.UpdateOptions{})
	return err
}

// PPM-3.3, PPM-3.6: what a transition of one pod costs, however many pods and nodes there are beside it: one write. Its node is
// reconciled for the report, and for what has become of the pod; no other is, and no marker.
func TestCostOfTransitions(t *testing.T) {
	const nodes, podsOnEach = 10, 11
	play(t, func(c *cluster) {
		for n := range nodes {
			c.addNode(fmt.Sprint("n", n))
			for p := range podsOnEach {
				c.addPod(fmt.Sprint("n", n), fmt.Sprint("web-", n, "-", p), "web")
			}
		}
		c.mark("games", "web", idle)
		c.ForgetRequests()
		for n := range nodes {
			c.agent(fmt.Sprint("n", n), v1alpha1.ProbeFailed)
		}
		c.Sleep(10 * time.Second)
		expect(c, "one write for each pod", []string{fmt.Sprint(nodes*podsOnEach, " patch pods/status")}, c.sent())

		ofNodes, ofMarkers := c.nodeReconciles.Count(), c.markerReconciles.Count()
		for _, state := range []v1alpha1.ProbeState{v1alpha1.ProbeSucceeded, v1alpha1.ProbeFailed} {
			c.Must(report(c.Context(), c.lifecycle(agentUser).NodePodProbes(), "n3", "web-3-5", state))
			c.Sleep(10 * time.Second)
			expect(c, "one write for the pod", []string{"1 patch pods/status"}, c.sent())
		}
		expect(c, "reconciles of nodes", 4, c.nodeReconciles.Count()-ofNodes)
		expect(c, "reconciles of markers", 0, c.markerReconciles.Count()-ofMarkers)
	})
}
