// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
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

// TestReconciling: who waits for the spec to be reached waits until it is, and for nothing that users hold back. (STS-S3)
func TestReconciling(t *testing.T) {
	badPriority := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) {
		r.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{PriorityStrategy: &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{
			{Weight: 50, MatchSelector: metav1.LabelSelector{MatchLabels: map[string]string{"-": "-"}}}}}}
	})
	const missing, outdated, held = "Reconciling True PodsMissing", "Reconciling True PodsOutdated", "Reconciling True UpdatePaused"
	const surplus, down = "Reconciling True PodsSurplus", "Reconciling True PodsUnavailable"
	for _, test := range []struct {
		name, template, current, pods string
		edits                         []edit
		want                          string
	}{
		{"all pods are there", "A", "A", "0A 1A", nil, ""},
		{"no pods are wanted", "A", "A", "", nil, ""},
		{"no pod is there", "A", "A", "", with(replicas(2)), missing},
		{"a pod is missing", "A", "A", "0A", with(replicas(2)), missing},
		{"a pod is missing, and others are to be updated", "B", "A", "0A", with(replicas(2)), missing},
		{"somebody else's pod has the name", "A", "A", "0A 1A#", nil, missing},
		{"a pod without a controller is not adopted yet", "A", "A", "0A 1A@", nil, missing},
		{"as many pods as wanted, and not those: 1 is reserved", "A", "A", "0A 1A", with(reserve(1)), missing},
		{"more pods than wanted", "A", "A", "0A 1A 2A", with(replicas(2)), surplus},
		{"a pod that is left over is terminating", "A", "A", "0A 1A 2A~", with(replicas(2)), surplus},
		{"a pod that is left over, and one that is not available", "A", "A", "0A- 1A 2A", with(replicas(2)), surplus},
		{"a pod is not ready", "A", "A", "0A 1A-", nil, down},
		{"a pod is not ready for long enough", "A", "A", "0A 1A%", with(minReady(60)), down},
		{"a pod has ended", "A", "A", "0A 1A!", nil, down},
		{"a pod is terminating, and ready as yet", "A", "A", "0A 1A~", nil, down},

		{"pods are to be updated", "B", "A", "0A 1A", nil, outdated},
		{"the last one is to be updated", "B", "A", "0A 1B", nil, outdated},
		{"it is terminating", "B", "A", "0A~ 1B", nil, outdated},
		{"pods that are left over are not updated", "B", "A", "0B 1B 2A", with(replicas(2)), surplus},
		{"an updated pod is not ready", "B", "A", "0B 1B-", nil, down},
		{"the template does not match the selector", "B", "A", "0A 1A", with(func(s *Snapshot) { s.Set.Spec.Template.Labels = map[string]string{"app": "x"} }), outdated},
		{"InPlaceOnly, and not possible", "B", "A", "0A 1A", with(inPlace(v1beta1.InPlaceOnlyPodUpdateStrategyType), func(s *Snapshot) {
			s.Set.Spec.Template.Spec.HostNetwork = true
		}), outdated},

		{"the partition holds all back", "B", "A", "0A 1A", with(partition(2)), ""},
		{"it holds more back than there are", "B", "A", "0A 1A", with(partition(7)), ""},
		{"it holds one back, and the other is updated", "B", "A", "0A 1B", with(partition(1)), ""},
		{"the other is not updated", "B", "A", "0A 1A", with(partition(1)), outdated},
		{"one of the numbers is right, and it is the wrong pod", "B", "A", "0B 1A", with(partition(1)), outdated},
		{"a pod that is held back is not available", "B", "A", "0A- 1B", with(partition(1)), down},
		{"unordered: as many as wanted are updated", "B", "A", "0B 1A", with(unordered, partition(1)), ""},
		{"unordered: fewer are", "B", "A", "0A 1A", with(unordered, partition(1)), outdated},
		{"unordered: the update is complete, and nothing is held back", "B", "B", "0B 1A", with(unordered, partition(1)), outdated},
		{"nobody can tell the order, and pods are to be updated", "B", "A", "0A 1A", with(badPriority), outdated},
		{"nobody can tell the order, and none are", "B", "A", "0B 1A", with(badPriority, partition(1)), ""},

		{"paused, and nothing to be updated", "A", "A", "0A 1A", with(paused), ""},
		{"paused in the middle", "B", "A", "0A 1B", with(paused), held},
		{"paused, and the partition holds the others back", "B", "A", "0A 1B", with(paused, partition(1)), ""},
		{"paused, and a pod is missing", "B", "A", "0A 1B", with(paused, replicas(3)), missing},
		{"OnDelete: nobody waits for those who delete pods", "B", "A", "0A 1A", with(onDelete), ""},
		{"OnDelete, and a pod is not available", "B", "A", "0A 1A-", with(onDelete), down},

		{"the spec cannot be read", "A", "A", "0A 1A", with(unavailable("x")), "Stalled True InvalidSpec"},
		{"in deletion nothing is waited for but that", "A", "A", "0A 1A-", with(func(s *Snapshot) {
			s.Set.DeletionTimestamp, s.Set.Finalizers = &metav1.Time{Time: testTime}, []string{"x"}
		}), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := testSnapshot(t, test.template, test.current, test.pods, test.edits...)
			plan := NewPlan(s)
			if got := forConsumers(plan.Status); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
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

// A condition that reports a problem stays the first one. So a client that reads only the first condition finds it. (STS-S2,
// STS-S3)
func TestReconcilingStandsBehindProblems(t *testing.T) {
	var types []string
	for _, c := range NewPlan(testSnapshot(t, "A", "A", "0A# 1A")).Status.Conditions {
		types = append(types, string(c.Type))
	}
	if diff := cmp.Diff([]string{"FailedCreatePod", "Reconciling"}, types); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
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
