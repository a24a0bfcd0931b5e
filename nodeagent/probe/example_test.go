// SPDX-License-Identifier: Apache-2.0

package probe_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent/probe"
)

// What an agent does about a probe that it has not known.
func ExampleNewPlan() {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	plan := probe.NewPlan(&probe.Snapshot{Now: now, Began: now.Add(-time.Hour), NodePodProbe: &v1alpha1.NodePodProbe{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
		Spec: v1alpha1.NodePodProbeSpec{PodProbes: []v1alpha1.PodProbe{{
			Namespace: "shop", Name: "game-0", UID: "4711", Probes: []v1alpha1.ContainerProbe{{
				Name: "games#idle", ContainerName: "main", Probe: corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/idle.sh"}}}, TimeoutSeconds: 3}}},
		}}},
	}})
	for _, start := range plan.Start {
		fmt.Println("run", start.Probe, "in", start.Pod, "for", start.Timeout, "at most")
	}
	// Output:
	// run games#idle in game-0 for 3s at most
}
