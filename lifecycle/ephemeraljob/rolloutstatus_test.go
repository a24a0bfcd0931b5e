// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestRolloutStatus(t *testing.T) {
	started := new(metav1.Now())
	told := func(of v1alpha1.EphemeralJobConditionType, message string) []v1alpha1.EphemeralJobCondition {
		return []v1alpha1.EphemeralJobCondition{{Type: of, Status: corev1.ConditionTrue, Message: message}}
	}
	for name, test := range map[string]struct {
		status v1alpha1.EphemeralJobStatus
		want   rollout.Status
	}{
		"new":           {v1alpha1.EphemeralJobStatus{}, rollout.Status{Phase: rollout.Unobserved}},
		"it runs":       {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobRunning, Matches: 3, Succeeded: 1, Failed: 1, Running: 1}, rollout.Status{Phase: rollout.InProgress, Message: "the containers of 2 out of 3 pods have ended"}},
		"no pods":       {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobWaiting}, rollout.Status{Phase: rollout.InProgress, Message: "the containers of 0 out of 0 pods have ended"}},
		"it has ended":  {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobSucceeded, Matches: 3, Succeeded: 3}, rollout.Status{Phase: rollout.Complete}},
		"it has failed": {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobFailed, Conditions: told("JobFailed", "Containers have failed in 1 of 3 pods")}, rollout.Status{Phase: rollout.Failed, Message: "Containers have failed in 1 of 3 pods"}},
		"a bad spec":    {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobError, Conditions: told("JobError", "spec.template: no containers")}, rollout.Status{Phase: rollout.Failed, Message: "spec.template: no containers"}},
		"of OpenKruise": {v1alpha1.EphemeralJobStatus{StartTime: started, Phase: v1alpha1.EphemeralJobFailed}, rollout.Status{Phase: rollout.Failed, Message: "JobFailed"}},
	} {
		if got := RolloutStatus(&v1alpha1.EphemeralJob{Status: test.status}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
