// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	pending    = v1alpha1.ContainerRecreateRequestPending
	recreating = v1alpha1.ContainerRecreateRequestRecreating
)

// CRR-4.2.3: the time is rounded up, so that the pod is out of service
// for no less than was asked for.
func TestAcquiredTime(t *testing.T) {
	elsewhere := time.FixedZone("elsewhere", 2*60*60)
	for at, want := range map[time.Time]string{
		now:                      "unready-acquired 2024-05-01T12:00:00Z",
		now.Add(1):               "unready-acquired 2024-05-01T12:00:01Z",
		now.Add(time.Second - 1): "unready-acquired 2024-05-01T12:00:01Z",
		now.In(elsewhere):        "unready-acquired 2024-05-01T12:00:00Z",
	} {
		plan := recreate.NewPlan(&recreate.Snapshot{Request: request("unready=5"), Pod: runningPod("ungated"), Now: at})
		if diff := cmp.Diff([]string{want}, show(nil, plan)); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", at, diff)
		}
	}
}

// CRR-4: to complete a request is to write phase, time and message. A container that is
// stopped and not back has failed. The other states stay. (CRR-M4)
func TestCompletedStatus(t *testing.T) {
	states := []v1alpha1.ContainerRecreateRequestContainerRecreateState{
		{Name: "main", Phase: v1alpha1.ContainerRecreateRequestSucceeded, IsKilled: true},
		{Name: "side", Phase: recreating, IsKilled: true, Message: "m"},
	}
	s := &recreate.Snapshot{Pod: runningPod(), Now: now.Add(700 * time.Millisecond), Request: request("deadline=5")}
	s.Request.Generation, s.Request.Status.ContainerRecreateStates = 2, slices.Clone(states)
	at := metav1.NewTime(now)
	states[1].Phase, states[1].Message = v1alpha1.ContainerRecreateRequestFailed, "it was not back when the request ended: "+v1alpha1.ContainerRecreateMessageDeadline
	want := &v1alpha1.ContainerRecreateRequestStatus{
		ObservedGeneration: 2, // CRR-6
		Phase:              v1alpha1.ContainerRecreateRequestCompleted, CompletionTime: &at,
		Message: v1alpha1.ContainerRecreateMessageDeadline, ContainerRecreateStates: states,
	}
	if diff := cmp.Diff(want, recreate.NewPlan(s).Steps[0].Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*recreate.Snapshot{nil, {}} {
		if plan := recreate.NewPlan(s); !reflect.DeepEqual(plan, &recreate.Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
