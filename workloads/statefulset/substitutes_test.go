// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSubstitutedPodsHoldUpNoUpdate: STS-18. Pods without a node use nothing of maxUnavailable if another subset of a
// UnitedDeployment runs substitutes for them. An update goes on beside them, one pod after the other. Those that have a node
// again, or no substitutes, count.
func TestSubstitutedPodsHoldUpNoUpdate(t *testing.T) {
	for _, test := range []struct {
		name     string
		label    bool
		node     string
		moved    int // in the first reconcile, of three in service
		finished int
	}{
		{"with substitutes", true, "", 1, 3},
		{"without", false, "", 0, 0},
		{"with substitutes and a node", true, "node", 0, 0},
	} {
		w := newScenario(t)
		w.Spec("policy=Parallel", "replicas=5", "podUpdatePolicy=InPlaceIfPossible")
		w.rollOut(t, "")
		var serving []string
		for i, pod := range slices.Clone(w.Pods) {
			if i < 3 { // the highest ordinals come first
				serving = append(serving, pod.Name)
				continue
			}
			w.Edit(pod.Name, func(p *corev1.Pod) {
				p.Spec.NodeName, p.Status = test.node, corev1.PodStatus{Phase: corev1.PodPending}
				if test.label {
					p.Labels[v1alpha1.ReservedPodLabel] = "true"
				}
			})
			w.Freeze(pod.Name, true)
		}
		w.Spec("image=nginx:2")
		updated := func() (n int) {
			for _, name := range serving {
				if w.Pod(name).Spec.Containers[0].Image == "nginx:2" {
					n++
				}
			}
			return n
		}
		w.apply(NewPlan(w.snapshot())) // creates the revision
		most := updated()
		for range 20 {
			before := updated()
			w.apply(NewPlan(w.snapshot()))
			most = max(most, updated()-before)
			w.Kubelets()
		}
		if most != test.moved || updated() != test.finished {
			t.Errorf("%s: %d pods that serve are updated, %d at once; want %d, %d at once", test.name, updated(), most, test.finished, test.moved)
		}
	}
}
