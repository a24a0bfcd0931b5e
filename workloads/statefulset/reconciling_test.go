// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

// A StatefulSet whose revision cannot be created has a first status that says so to those who wait. (STS-S3)
func TestFirstStatus(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, "")
		c.FailBefore(fixture.Fail("create controllerrevisions", apierrors.NewForbidden(appsv1.Resource("controllerrevisions"), "", nil)))
		c.MustFailReconcile(func(error) bool { return true })
		if status := c.get().Status; forConsumers(&status) != "Reconciling True NotObserved" || status.ObservedGeneration != 0 {
			t.Errorf("status %+v", status)
		}
		c.FailBefore(nil)
		c.MustReconcile()
		if status := c.get().Status; forConsumers(&status) != "Reconciling True PodsMissing" || status.ObservedGeneration != 1 {
			t.Errorf("status %+v", status)
		}
		c.Settle()
		if status := c.get().Status; len(status.Conditions) > 0 || status.AvailableReplicas != 1 {
			t.Errorf("settled: %+v", status)
		}
	})
}
