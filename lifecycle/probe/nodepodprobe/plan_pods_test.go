// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// PPM-3.4: the times of the report become those of the condition.
func TestTimesOfTheCondition(t *testing.T) {
	s := newSnapshot(says(newProbes(), "web-0", "games#idle=Succeeded"), []*corev1.Pod{newPod("web-0")}, newMarker("games", newProbe("idle", "Idle")))
	patch := NewPlan(s).Patches[0]
	writes, err := patch.Writes(patch.Pod)
	if err != nil || len(writes) != 1 {
		t.Fatal(writes, err)
	}
	want := `{"metadata":{"uid":"uid-web-0"},"status":{"conditions":[{"type":"Idle","status":"True","reason":null,"message":"the words of games#idle",` +
		`"lastProbeTime":"2026-01-02T03:03:05Z","lastTransitionTime":"2026-01-02T03:03:05Z"}]}}`
	if diff := cmp.Diff(want, string(writes[0].Data)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

// PPM-3.4: with other words of the same state a condition keeps the time since when it holds.
func TestOtherWords(t *testing.T) {
	since := metav1.NewTime(now.Add(-time.Hour))
	pod := newPod("web-0", "words=Idle:True 3 players")
	pod.Status.Conditions[1].LastTransitionTime = since
	s := newSnapshot(says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"), []*corev1.Pod{pod}, newMarker("games", newProbe("idle", "Idle")))
	c := NewPlan(s).Patches[0].Conditions[0]
	if !c.LastTransitionTime.Equal(&since) || !c.LastProbeTime.Time.Equal(now.Add(-time.Minute)) {
		t.Errorf("%+v", c)
	}
}

// PPM-3.7: words that change with each report are written once in ten seconds, and another state at once.
func TestWordsThatChange(t *testing.T) {
	s := newSnapshot(says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"), []*corev1.Pod{newPod("web-0", "words=Idle:True 3 players")},
		newMarker("games", newProbe("idle", "Idle")))
	first := NewPlan(s)
	s.Wrote = map[types.UID]Wrote{"uid-web-0": {Results: first.Patches[0].Results, At: now.Add(-3 * time.Second)}}
	state := &s.NodePodProbe.Status.PodProbeStatuses[0].ProbeStates[0]
	state.Message = "4 players"
	if plan := NewPlan(s); len(plan.Patches) > 0 || plan.RequeueAfter != 7*time.Second {
		t.Errorf("3 s after the last write: %v", shown(plan))
	}
	state.State = v1alpha1.ProbeFailed
	if diff := cmp.Diff([]string{"patch web-0: Idle=False (4 players)"}, shown(NewPlan(s))); diff != "" {
		t.Errorf("another state (-want +got):\n%s", diff)
	}
}

// PPM-3.7: what another client changes is put right, but not at once again and again.
func TestTwoWriters(t *testing.T) {
	s := newSnapshot(says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"), []*corev1.Pod{newPod("web-0")},
		newMarker("games", newProbe("idle", "", sets(v1alpha1.ProbeSucceeded, "idle=yes"))))
	first := NewPlan(s)
	if diff := cmp.Diff([]string{"patch web-0: idle=yes"}, shown(first)); diff != "" {
		t.Fatalf("the first time (-want +got):\n%s", diff)
	}
	s.Wrote = map[types.UID]Wrote{"uid-web-0": {Results: first.Patches[0].Results, At: now.Add(-3 * time.Second)}}
	waits := []string{"ignore  of shop/web-0: they were written less than 10s ago: what alone says it in other words, or another client has changed, is written then", "again after 7s"}
	if diff := cmp.Diff(waits, shown(NewPlan(s))); diff != "" {
		t.Errorf("at once again (-want +got):\n%s", diff)
	}
	s.Now = now.Add(7 * time.Second)
	if diff := cmp.Diff([]string{"patch web-0: idle=yes"}, shown(NewPlan(s))); diff != "" {
		t.Errorf("after a while (-want +got):\n%s", diff)
	}
	s.Now = now
	s.Markers["shop"][0].Generation++
	if diff := cmp.Diff([]string{"patch web-0: idle=yes"}, shown(NewPlan(s))); diff != "" {
		t.Errorf("another policy (-want +got):\n%s", diff)
	}
}
