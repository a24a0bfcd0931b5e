// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// forConsumers shows the conditions by which consumers wait.
func forConsumers(s *v1beta1.StatefulSetStatus) string {
	out := ""
	for _, c := range s.Conditions {
		if c.Type == v1beta1.StatefulSetConditionReconciling || c.Type == v1beta1.StatefulSetConditionStalled {
			out += string(c.Type) + " " + string(c.Status) + " " + c.Reason
		}
	}
	return out
}

// It is over with what it was about, and what stands costs no write. (STS-S3)
func TestReconcilingEnds(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A 1A-")
	for _, test := range []struct{ want, ready string }{{"Reconciling True PodsUnavailable", "False"}, {"", "True"}} {
		s.Pods[1].Status.Conditions[0].Status = corev1.ConditionStatus(test.ready)
		s.Set.Status = *NewPlan(s).Status
		if got := forConsumers(&s.Set.Status); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		if again := NewPlan(s).Status; again != nil {
			t.Errorf("written again: %+v", again)
		}
	}
	s.Set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, s.Set.Generation = &intstr.IntOrString{Type: intstr.String, StrVal: "x"}, 2
	s.Set.Status = *NewPlan(s).Status
	if got := forConsumers(&s.Set.Status); got != "Stalled True InvalidSpec" {
		t.Errorf("unreadable: %q", got)
	}
	s.Set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, s.Set.Generation = nil, 3
	if got := forConsumers(NewPlan(s).Status); got != "" {
		t.Errorf("readable again: %q", got)
	}
}
