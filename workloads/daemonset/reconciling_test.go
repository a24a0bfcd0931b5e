// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// forConsumers shows the conditions by which consumers wait.
func forConsumers(s *v1alpha1.DaemonSetStatus) string {
	out := ""
	for _, c := range s.Conditions {
		if c.Type == v1alpha1.DaemonSetConditionReconciling || c.Type == v1alpha1.DaemonSetConditionStalled {
			out += string(c.Type) + " " + string(c.Status) + " " + c.Reason
		}
	}
	return out
}

// It is over with what it was about, and a condition that reports a problem stands before it. (DS-17, DS-20)
func TestReconcilingEnds(t *testing.T) {
	s := place(t, newSet(), "n1:v1")
	s.Set.Spec.Template.Labels = map[string]string{"app": "db"}
	s.Set.Status = *NewPlan(s).Status
	if c := s.Set.Status.Conditions; len(c) != 2 || c[0].Type != v1alpha1.DaemonSetConditionFailedUpdatePod || c[1].Type != v1alpha1.DaemonSetConditionReconciling || c[1].Status != corev1.ConditionTrue {
		t.Errorf("conditions %+v", c)
	}
	s.Set.Spec.Template.Labels = map[string]string{"app": "web"}
	s.Set.Spec.Template.Spec.Containers[0].Image, s.Set.Generation = "v1", 2
	if c := NewPlan(s).Status.Conditions; len(c) > 0 {
		t.Errorf("conditions %+v", c)
	}
}
