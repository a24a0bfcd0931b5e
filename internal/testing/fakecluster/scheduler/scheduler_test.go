// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestScheduler asks about a pod, which may have node-selector terms, and a node named here.
func TestScheduler(t *testing.T) {
	type row struct {
		Pod   corev1.PodSpec
		Terms []corev1.NodeSelectorTerm
		Node  corev1.Node
	}
	patches.PlayRows(t, "testdata", func() row { return row{} }, func(_ *testing.T, _ string, r *row) string {
		pod := corev1.Pod{Spec: r.Pod}
		if r.Node.Name = "here"; r.Terms != nil {
			required := &corev1.NodeSelector{NodeSelectorTerms: r.Terms}
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		}
		return fmt.Sprintf("on %q, takes %t, evicts %t", scheduler.NodeOf(&pod), scheduler.Takes(&r.Node, &pod.Spec), scheduler.Evicts(&r.Node, &pod.Spec))
	})
}
