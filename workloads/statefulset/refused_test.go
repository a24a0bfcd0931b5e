// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestRefusedUpdates: CS-32, CT-10, STS-17, STS-18.
func TestRefusedUpdates(t *testing.T) {
	ifPossible := inPlace(v1beta1.InPlaceIfPossiblePodUpdateStrategyType)
	refused := func(in time.Duration, pods ...int) edit {
		return func(s *Snapshot) {
			s.Refused = rollout.Refusals{Until: s.Now.Add(in), Pods: map[types.UID]error{}, Err: errors.New("no")}
			for _, pod := range pods {
				s.Refused.Pods[s.Pods[pod].UID] = s.Refused.Err
			}
		}
	}
	denied := func(s *Snapshot) {
		s.Refused.Denied = map[types.UID]rollout.Denial{s.Pods[1].UID: {Budget: "web", Since: s.Now, Asked: s.Now}}
	}
	beside := func(s *Snapshot) {
		s.Refused.Denied = map[types.UID]rollout.Denial{s.Pods[0].UID: {Budget: "web", Since: s.Now, Asked: s.Now}}
	}
	runPlanCases(t, []planCase{
		{"one that a budget refuses, too", "B", "A", "0A 1A", with(ifPossible, unordered, denied), "UpdateInPlace 0", "Budget 1"},
		{"in order, the others wait for it", "B", "A", "0A 1A", with(ifPossible, denied), "UpdateInPlace 1", "Budget 1, MaxUnavailable 0"},
		{"it is named when pods are recreated", "B", "A", "0A 1A", with(denied), "delete 1 Update", "Budget 1, MaxUnavailable 0"},
		{"no update is tried before its time", "B", "A", "0A 1A", with(ifPossible, refused(time.Second, 1)), "", "MaxUnavailable 0, Refused 1"},
		{"none of another pod either", "B", "A", "0A 1A", with(ifPossible, unavailable("2"), refused(time.Second, 1)), "", "Refused 1 0"},
		{"then it is tried again", "B", "A", "0A 1A", with(ifPossible, refused(0, 1)), "UpdateInPlace 1", "MaxUnavailable 0"},
		{"where the order is open, after all others", "B", "A", "0A 1A", with(ifPossible, unordered, refused(0, 1)), "UpdateInPlace 0", "MaxUnavailable 1"},
		{"and behind the partition", "B", "A", "0A 1A", with(ifPossible, unordered, partition(1), refused(0, 1)), "UpdateInPlace 0", "Partition 1"},
		{"pods are recreated meanwhile", "B", "A", "0A 1A", with(refused(time.Second, 1)), "delete 1 Update", "MaxUnavailable 0"},
		{"but not while a budget denies others, which it is asked about each second", "B", "A", "0A 1A", with(refused(time.Second, 1), beside), "", "Budget 0, Refused 1"},
		{"then it is recreated", "B", "A", "0A 1A", with(refused(0, 1), beside), "delete 1 Update", "Budget 0"},
	})
	s := testSnapshot(t, "B", "A", "0A 1A", ifPossible, refused(7*time.Second, 1))
	if got := NewPlan(s).RequeueAfter; got != 7*time.Second {
		t.Errorf("the next reconcile is in %v, want 7s", got)
	}
}
