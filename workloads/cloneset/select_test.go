// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// newCandidate makes a pod that serves or not, and has done so for minReadySeconds or not.
func newCandidate(name string, serves, available bool) *pod {
	shared := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if serves {
		shared.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	}
	p := &pod{}
	p.Observe(shared)
	p.Available = available
	return p
}

// line makes a candidate of each letter: "+" is available, "~" waits for minReadySeconds, "-" does not serve, and "p" is prepared.
// The names are the positions.
func line(letters string) (candidates []*pod) {
	for i, letter := range letters {
		candidate := newCandidate(fmt.Sprint(i), letter == '+' || letter == '~', letter == '+')
		if letter == 'p' {
			candidate.State = lifecyclev1alpha1.StatePreparingUpdate
		}
		candidates = append(candidates, candidate)
	}
	return candidates
}

// answer prints what was selected, and for each reason the pods that wait.
func answer(s selection) string {
	names := make([]string, len(s.now))
	for i, pod := range s.now {
		names[i] = pod.Name
	}
	lines := []string{"now: " + strings.Join(names, " ")}
	var last *rollout.Reason
	for _, w := range s.waits {
		if w.Reason != last {
			last = w.Reason
			lines = append(lines, fmt.Sprintf("%s %d/%d %q:", last.Rule, last.Observed, last.Limit, last))
		}
		lines[len(lines)-1] += " " + w.Pod.Name
	}
	return strings.Join(lines, "\n")
}

func TestSelectForUpdate(t *testing.T) {
	for _, tt := range []struct {
		name        string
		tally       tally
		candidates  string
		unavailable unavailablePods
		want        []string
	}{
		{"CS-31, example f: maxUnavailable and partition",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, Old: class{Total: 5}}, "+++++", unavailablePods{},
			[]string{"now: 0",
				`MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is updated now": 1`,
				`Partition 3/3 "partition 3: 3 pods stay at the old revision": 2 3 4`}},
		{"CS-31: five unavailable old pods, two updated",
			tally{Replicas: 5, MaxUnavailable: 2, Old: class{Total: 5, Unavailable: 5}}, "-----", unavailablePods{All: 5},
			[]string{"now: 0 1", `MaxUnavailable 2/2 "maxUnavailable 2: 2 pods are updated now": 2 3 4`}},
		{"CS-31: unavailable pods at the update revision",
			tally{Replicas: 5, MaxUnavailable: 2, Old: class{Total: 3}, New: class{Total: 2, Unavailable: 2}}, "+++", unavailablePods{All: 2, AtTarget: 2},
			[]string{"now: ", `MaxUnavailable 2/2 "maxUnavailable 2: 2 pods at the update revision are unavailable already": 0 1 2`}},
		{"CS-31: unavailable pods at the update revision, one more may be updated",
			tally{Replicas: 5, MaxUnavailable: 2, Old: class{Total: 4}, New: class{Total: 1, Unavailable: 1}}, "++++", unavailablePods{All: 1, AtTarget: 1},
			[]string{"now: 0", `MaxUnavailable 2/2 "maxUnavailable 2: 1 pod at the update revision is unavailable already and 1 pod is updated now": 1 2 3`}},
		{"CS-31, difference: an available pod is held back, and none behind it that is not",
			tally{Replicas: 5, MaxUnavailable: 2, Old: class{Total: 5, Unavailable: 2}}, "-++-+", unavailablePods{All: 2},
			[]string{"now: 0 3", `MaxUnavailable 2/2 "maxUnavailable 2: 2 pods are unavailable already": 1 2`,
				`MaxUnavailable 2/2 "maxUnavailable 2: 2 pods are updated now": 4`}},
		{"CS-31, difference: an available pod is updated within the limit, the next is held back",
			tally{Replicas: 5, MaxUnavailable: 3, Old: class{Total: 5, Unavailable: 2}}, "-++-+", unavailablePods{All: 2},
			[]string{"now: 0 1 3", `MaxUnavailable 3/3 "maxUnavailable 3: 2 pods are unavailable already and 1 pod is updated now": 2`,
				`MaxUnavailable 3/3 "maxUnavailable 3: 3 pods are updated now": 4`}},
		{"CS-31, difference: a broken pod at the end of the order does not stop the update",
			tally{Replicas: 3, MaxUnavailable: 1, Old: class{Total: 3, Unavailable: 1}}, "++-", unavailablePods{All: 1},
			[]string{"now: 2", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is unavailable already": 0 1`}},
		{"CS-31, difference: a broken surge pod beyond those that are updated is corrected",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 4, Unavailable: 1}}, "+++-", unavailablePods{All: 1},
			[]string{"now: 3", `MaxUnavailable 1/1 "maxUnavailable 0 and 1 pod beyond replicas: 1 pod is unavailable already": 0 1`,
				`Replicas 3/3 "replicas 3, partition 0: the update revision gets no more than 3 pods": 2`}},
		{"CS-31, difference: of the pods that are passed over as many wait as the partition lets be updated",
			tally{Replicas: 4, Partition: 2, MaxUnavailable: 1, Old: class{Total: 4, Unavailable: 1}}, "++-+", unavailablePods{All: 1},
			[]string{"now: 2", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is unavailable already": 0`,
				`Partition 2/2 "partition 2: 2 pods stay at the old revision": 1 3`}},
		{"CS-31, difference: missing pods take nothing from those that are unavailable",
			tally{Replicas: 10, MaxUnavailable: 2, Old: class{Total: 4, Unavailable: 3}}, "---+", unavailablePods{All: 3},
			[]string{"now: 0 1", `MaxUnavailable 2/2 "maxUnavailable 2: 2 pods are updated now": 2`,
				`MaxUnavailable 2/0 "maxUnavailable 2 less 6 missing pods: 2 pods are updated now": 3`}},
		{"CS-31, difference: one that is unavailable is updated even with maxUnavailable 0",
			tally{Replicas: 5, MaxSurge: 1, Old: class{Total: 2, Unavailable: 2}}, "--", unavailablePods{All: 2},
			[]string{"now: 0", `MaxUnavailable 1/1 "maxUnavailable 0, and 1 pod that is unavailable already: 1 pod is updated now": 1`}},
		{"CS-31, difference: a prepared pod does not wait for missing ones, which may wait for it",
			tally{Replicas: 6, MaxUnavailable: 2, ScaleMaxUnavailable: 1, Old: class{Total: 2, Unavailable: 1}}, "p+", unavailablePods{All: 1},
			[]string{"now: 0", `MaxUnavailable 1/0 "maxUnavailable 2 less 4 missing pods: 1 pod is updated now": 1`}},
		{"CS-31, CS-E4: the surge pod makes room",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 3}, New: class{Total: 1}}, "+++", unavailablePods{},
			[]string{"now: 0",
				`MaxUnavailable 1/1 "maxUnavailable 0 and 1 pod beyond replicas: 1 pod is updated now": 1`,
				`Replicas 3/3 "replicas 3, partition 0: the update revision gets no more than 3 pods": 2`}},
		{"CS-31, CS-E4: no room before",
			tally{Replicas: 3, MaxSurge: 1, Old: class{Total: 3}}, "+++", unavailablePods{},
			[]string{"now: ", `MaxUnavailable 0/0 "maxUnavailable 0: no pod may be updated": 0 1 2`}},
		{"CS-31: missing pods take their share",
			tally{Replicas: 5, MaxUnavailable: 2, Old: class{Total: 4}}, "++++", unavailablePods{},
			[]string{"now: 0", `MaxUnavailable 1/1 "maxUnavailable 2 less 1 missing pod: 1 pod is updated now": 1 2 3`}},
		{"CS-31, example g: rollback",
			tally{Replicas: 5, Partition: 4, MaxUnavailable: 2, New: class{Total: 4}, Old: class{Total: 1}, RollBack: true}, "++++", unavailablePods{},
			[]string{"now: 0 1",
				`MaxUnavailable 2/2 "maxUnavailable 2: 2 pods are updated now": 2`,
				`Partition 1/4 "partition 4 of 5 replicas: 1 pod stays at the update revision": 3`}},
		{"CS-31, difference: with a surge, pods that only wait for minReadySeconds stay until others are available",
			tally{Replicas: 5, MaxSurge: 5, Old: class{Total: 10, Unavailable: 5}}, "~~~~~+++++", unavailablePods{All: 5},
			[]string{"now: ",
				`MaxUnavailable 5/5 "maxUnavailable 0 and 5 pods beyond replicas: 5 pods are unavailable already; with maxSurge, a pod that serves and waits for minReadySeconds is replaced as an available one is": 0 1 2 3 4`,
				`Replicas 5/5 "replicas 5, partition 0: the update revision gets no more than 5 pods": 5 6 7 8 9`}},
		{"CS-31, difference: with a surge, they are replaced within the limit, and those that are not ready at once",
			tally{Replicas: 5, MaxSurge: 3, Old: class{Total: 8, Unavailable: 2}}, "-~++++++", unavailablePods{All: 2},
			[]string{"now: 0 1",
				`MaxUnavailable 3/3 "maxUnavailable 0 and 3 pods beyond replicas: 2 pods are unavailable already and 1 pod is updated now": 2 3 4`,
				`Replicas 5/5 "replicas 5, partition 0: the update revision gets no more than 5 pods": 5 6 7`}},
		{"CS-31: without a surge, a canary that waits for minReadySeconds is updated at once",
			tally{Replicas: 3, MaxUnavailable: 1, Old: class{Total: 3, Unavailable: 1}}, "~++", unavailablePods{All: 1},
			[]string{"now: 0", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is updated now": 1 2`}},
		{"CS-31: rollback, unavailable at the current revision",
			tally{Replicas: 5, Partition: 4, MaxUnavailable: 1, New: class{Total: 4}, Old: class{Total: 1, Unavailable: 1}, RollBack: true}, "++++", unavailablePods{All: 1, AtTarget: 1},
			[]string{"now: ",
				`MaxUnavailable 1/1 "maxUnavailable 1: 1 pod at the current revision is unavailable already": 0 1 2`,
				`Partition 1/4 "partition 4 of 5 replicas: 1 pod stays at the update revision": 3`}},
		{"CS-27: at the partition nothing is updated",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, New: class{Total: 2}, Old: class{Total: 3}}, "+++", unavailablePods{},
			[]string{"now: ", `Partition 3/3 "partition 3: 3 pods stay at the old revision": 0 1 2`}},
		{"CS-27, example k: the surplus old pod is not updated",
			tally{Replicas: 5, Partition: 3, MaxUnavailable: 1, Old: class{Total: 4}, New: class{Total: 2}}, "++++", unavailablePods{},
			[]string{"now: ", `Replicas 2/2 "replicas 5, partition 3: the update revision gets no more than 2 pods": 0 1 2 3`}},
		{"CS-31: all are updated", tally{Replicas: 2, MaxUnavailable: 2, Old: class{Total: 2}}, "++", unavailablePods{}, []string{"now: 0 1"}},
		{"no candidates", tally{Replicas: 2, MaxUnavailable: 2, Old: class{Total: 2}}, "", unavailablePods{}, []string{"now: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(tt.tally.selectForUpdate(line(tt.candidates), tt.unavailable))
			if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectForDeletion(t *testing.T) {
	for _, tt := range []struct {
		name   string
		tally  tally
		chosen string
		want   []string
	}{
		{"CS-22, example b: the second waits",
			tally{Replicas: 5, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 2}}, "++",
			[]string{"now: 0", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is deleted now": 1`}},
		{"CS-22, example d: the replacement is not available",
			tally{Replicas: 5, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 1, Unavailable: 1}}, "+",
			[]string{"now: ", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is unavailable already": 0`}},
		{"CS-22, example e: not ready ones go freely",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 5, SpecifiedDelete: 2}}, "--", []string{"now: 0 1"}},
		{"CS-22: behind a ready one too",
			tally{Replicas: 5, MaxUnavailable: 0, New: class{Total: 5, SpecifiedDelete: 3}}, "+-+",
			[]string{"now: 1", `MaxUnavailable 1/0 "maxUnavailable 0: 1 pod is unavailable already": 0 2`}},
		{"CS-22, difference: those not ready take their share",
			tally{Replicas: 5, MaxUnavailable: 2, New: class{Total: 5, SpecifiedDelete: 3}}, "++-",
			[]string{"now: 0 2", `MaxUnavailable 2/2 "maxUnavailable 2: 1 pod is unavailable already and 1 pod is deleted now": 1`}},
		{"CS-22, difference: so do those not ready for minReadySeconds",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 4, SpecifiedDelete: 2}}, "+~",
			[]string{"now: 1", `MaxUnavailable 1/1 "maxUnavailable 1: 1 pod is unavailable already": 0`}},
		{"CS-22: a pod not ready for minReadySeconds goes within the budget",
			tally{Replicas: 4, MaxUnavailable: 1, New: class{Total: 4, SpecifiedDelete: 1, Unavailable: 1}}, "~",
			[]string{"now: ", `MaxUnavailable 2/1 "maxUnavailable 1: 2 pods are unavailable already": 0`}},
		{"CS-22, CS-E3, example h: before the surge pod is ready",
			tally{Replicas: 5, MaxSurge: 1, New: class{Total: 6, SpecifiedDelete: 1, Unavailable: 1}}, "+",
			[]string{"now: ", `MaxUnavailable 1/1 "maxUnavailable 0 and 1 pod beyond replicas: 1 pod is unavailable already": 0`}},
		{"CS-22, example h: when it is",
			tally{Replicas: 5, MaxSurge: 1, New: class{Total: 6, SpecifiedDelete: 1}}, "+", []string{"now: 0"}},
		{"CS-22, CS-E10: as many as there are too many",
			tally{Replicas: 4, MaxUnavailable: 0, New: class{Total: 5, SpecifiedDelete: 1}}, "+", []string{"now: 0"}},
		{"CS-23: scaling in, unavailable ones counted once",
			tally{Replicas: 3, MaxUnavailable: 1, New: class{Total: 6, Unavailable: 1}}, "-++", []string{"now: 0 1 2"}},
		{"CS-23: scaling in keeps maxUnavailable",
			tally{Replicas: 3, MaxUnavailable: 1, New: class{Total: 6, Unavailable: 3}}, "+++",
			[]string{"now: 0", `MaxUnavailable 4/4 "maxUnavailable 1 and 3 pods beyond replicas: 3 pods are unavailable already and 1 pod is deleted now": 1 2`}},
		{"CS-23: pods that wait for minReadySeconds alone are scaled in at once",
			tally{Replicas: 5, MaxUnavailable: 2, Settling: 10, New: class{Total: 10, Unavailable: 10}}, "~~~~~", []string{"now: 0 1 2 3 4"}},
		{"CS-23: before available ones",
			tally{Replicas: 5, MaxUnavailable: 1, Settling: 3, New: class{Total: 7, Unavailable: 3}}, "~+",
			[]string{"now: 0", `MaxUnavailable 3/3 "maxUnavailable 1 and 2 pods beyond replicas: 3 pods are unavailable already": 1`}},
		{"CS-23: as long as enough are ready without them",
			tally{Replicas: 5, MaxUnavailable: 1, Settling: 2, New: class{Total: 7, Unavailable: 5}}, "~~",
			[]string{"now: ", `MaxUnavailable 5/3 "maxUnavailable 1 and 2 pods beyond replicas: 5 pods are unavailable already": 0 1`}},
		{"CS-22: none chosen", tally{Replicas: 3, New: class{Total: 3}}, "", []string{"now: "}},
		{"CS-22: maxUnavailable 0",
			tally{Replicas: 3, New: class{Total: 3, SpecifiedDelete: 1}}, "+",
			[]string{"now: ", `MaxUnavailable 0/0 "maxUnavailable 0: no pod may be deleted": 0`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(tt.tally.selectForDeletion(line(tt.chosen)))
			if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBlocked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		reason *rollout.Reason
		want   string
	}{
		{"CS-23, CS-E20: pods marked for deletion go before scaling in",
			tally{Replicas: 4, New: class{Total: 8, SpecifiedDelete: 1}}.scaleDownBlocked(),
			"replicas 4: 1 pod is marked for deletion or being prepared for it, which goes before scaling in"},
		{"CS-23, CS-E20: so do pods in PreparingDelete",
			tally{Replicas: 4, New: class{Total: 8, PreparingDelete: 1}, Old: class{Total: 1, PreparingDelete: 1}}.scaleDownBlocked(),
			"replicas 4: 2 pods are marked for deletion or being prepared for it, which goes before scaling in"},
		{"CS-23: nothing in the way",
			tally{Replicas: 4, New: class{Total: 8, Unavailable: 3}}.scaleDownBlocked(), ""},
		{"CS-16, example n",
			tally{Replicas: 6, ScaleMaxUnavailable: 2, New: class{Total: 3, Unavailable: 1}}.createBlocked(),
			"scaleStrategy.maxUnavailable 2: 1 pod is unavailable already, so 1 of 3 missing pods is created now"},
		{"CS-16: all are created",
			tally{Replicas: 6, ScaleMaxUnavailable: noLimit, New: class{Total: 3, Unavailable: 1}}.createBlocked(), ""},
		{"a reason without words is its rule", &rollout.Reason{Rule: rollout.RulePaused}, "Paused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.reason.String(); got != tt.want {
				t.Errorf("reason %q, want %q", got, tt.want)
			}
		})
	}
}

func BenchmarkSelectForUpdate(b *testing.B) {
	for _, n := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			candidates := line(strings.Repeat("+", n))
			tally := tally{Replicas: int32(n), Partition: int32(n) / 5, MaxUnavailable: int32(n) / 4, Old: class{Total: int32(n)}}
			b.ReportAllocs()
			for b.Loop() {
				tally.selectForUpdate(candidates, unavailablePods{})
			}
		})
	}
}
