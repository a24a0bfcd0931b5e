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

// PPM-3.3 to PPM-3.5: what results change about a pod.
func TestResults(t *testing.T) {
	const succeeded, failed = v1alpha1.ProbeSucceeded, v1alpha1.ProbeFailed
	idle := newMarker("games", newProbe("idle", "Idle", sets(succeeded, "idle=yes", "cost=low"), sets(failed, "idle=no")))
	for _, test := range []struct {
		name   string
		marker *v1alpha1.PodProbeMarker
		pod    *corev1.Pod
		states []string
		want   []string
	}{
		{"nothing is known", idle, newPod("web-0"), nil, nil},
		{"an empty state", idle, newPod("web-0"), []string{"games#idle="}, nil},
		{"succeeded: condition and labels in one patch", idle, newPod("web-0"), []string{"games#idle=Succeeded"},
			[]string{"patch web-0: Idle=True (the words of games#idle) cost=low idle=yes"}},
		{"failed: the keys of the other state go", idle, newPod("web-0", has("Idle", corev1.ConditionTrue), labelled("idle", "yes"), labelled("cost", "low")), []string{"games#idle=Failed"},
			[]string{"patch web-0: Idle=False (the words of games#idle) cost- idle=no"}},
		{"it stands", idle, newPod("web-0", has("Idle", corev1.ConditionTrue), labelled("idle", "yes"), labelled("cost", "low")), []string{"games#idle=Succeeded"}, nil},
		{"the words of a result have changed", idle, newPod("web-0", hasWords("Idle", corev1.ConditionTrue, "3 players"), labelled("idle", "yes"), labelled("cost", "low")), []string{"games#idle=Succeeded"},
			[]string{"patch web-0: Idle=True (the words of games#idle) cost=low idle=yes"}},
		{"the condition stands, and a label does not", idle, newPod("web-0", has("Idle", corev1.ConditionTrue), labelled("idle", "no"), labelled("cost", "low")), []string{"games#idle=Succeeded"},
			[]string{"patch web-0: cost=low idle=yes"}},
		{"unknown is not failed, and takes no label away", idle, newPod("web-0", has("Idle", corev1.ConditionTrue), labelled("idle", "yes")), []string{"games#idle=Unknown"},
			[]string{"patch web-0: Idle=Unknown (the words of games#idle)"}},
		{"one policy, and the opposite result", newMarker("games", newProbe("idle", "", sets(succeeded, "idle=yes"))), newPod("web-0", labelled("idle", "yes")), []string{"games#idle=Failed"},
			[]string{"patch web-0: idle-"}},
		{"what another probe sets stays, whichever comes first", newMarker("roles", newProbe("a", "", sets(succeeded, "role=a")), newProbe("b", "", sets(succeeded, "role=b"))),
			newPod("web-0", labelled("role", "b")), []string{"roles#a=Succeeded", "roles#b=Failed"}, []string{"patch web-0: role=a"}},
		{"and the other way round", newMarker("roles", newProbe("a", "", sets(succeeded, "role=a")), newProbe("b", "", sets(succeeded, "role=b"))),
			newPod("web-0", labelled("role", "a")), []string{"roles#a=Failed", "roles#b=Succeeded"}, []string{"patch web-0: role=b"}},
		{"of two values the last", newMarker("roles", newProbe("a", "", sets(succeeded, "role=a")), newProbe("b", "", sets(succeeded, "role=b"))),
			newPod("web-0"), []string{"roles#a=Succeeded", "roles#b=Succeeded"}, []string{"patch web-0: role=b"}},
		{"two conditions of one type: the first", newMarker("games", newProbe("a", "Idle"), newProbe("b", "Idle")), newPod("web-0"), []string{"games#b=Failed", "games#a=Succeeded"},
			[]string{"patch web-0: Idle=True (the words of games#a)", "ignore games#b of shop/web-0: the condition Idle is that of the probe games#a"}},
		{"a condition of the kubelet", newMarker("games", newProbe("a", "Ready")), newPod("web-0"), []string{"games#a=Failed"},
			[]string{"ignore games#a of shop/web-0: the condition Ready is written by Kubernetes or podwright"}},
		{"a condition of the resize of a pod", newMarker("games", newProbe("a", "PodResizePending")), newPod("web-0"), []string{"games#a=Failed"},
			[]string{"ignore games#a of shop/web-0: the condition PodResizePending is written by Kubernetes or podwright"}},
		{"a probe that the marker does not have", idle, newPod("web-0"), []string{"games#gone=Succeeded", "by-hand=Succeeded"}, nil},
		{"a pod that does not match", idle, newPod("web-0", labelled("app", "db")), []string{"games#idle=Succeeded"}, nil},
		{"a pod that goes", idle, newPod("web-0", ending), []string{"games#idle=Succeeded"}, nil},
		{"another pod of its name", idle, newPod("web-0", func(pod *corev1.Pod) { pod.UID = "another" }), []string{"games#idle=Succeeded"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSnapshot(says(newProbes(), "web-0", test.states...), []*corev1.Pod{test.pod}, test.marker)
			plan := NewPlan(s)
			plan.Spec, plan.Dropped = nil, nil
			if diff := cmp.Diff(test.want, shown(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

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
	pod := newPod("web-0", hasWords("Idle", corev1.ConditionTrue, "3 players"))
	pod.Status.Conditions[1].LastTransitionTime = since
	s := newSnapshot(says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"), []*corev1.Pod{pod}, newMarker("games", newProbe("idle", "Idle")))
	c := NewPlan(s).Patches[0].Conditions[0]
	if !c.LastTransitionTime.Equal(&since) || !c.LastProbeTime.Time.Equal(now.Add(-time.Minute)) {
		t.Errorf("%+v", c)
	}
}

// PPM-3.2: a policy that takes a pod out of the marker's own selector brings it back, too.
func TestPolicyThatMovesAPod(t *testing.T) {
	moves := newMarker("moves", newProbe("idle", "", sets(v1alpha1.ProbeSucceeded, "app=idle"), sets(v1alpha1.ProbeFailed, "app=web")))
	s := newSnapshot(says(newProbes(probed("web-0", "moves#idle")), "web-0", "moves#idle=Failed"), []*corev1.Pod{newPod("web-0", labelled("app", "idle"))}, moves)
	if diff := cmp.Diff([]string{"patch web-0: app=web"}, shown(NewPlan(s))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// PPM-3.7: words that change with each report are written once in ten seconds, and another state at once.
func TestWordsThatChange(t *testing.T) {
	s := newSnapshot(says(newProbes(probed("web-0", "games#idle")), "web-0", "games#idle=Succeeded"), []*corev1.Pod{newPod("web-0", hasWords("Idle", corev1.ConditionTrue, "3 players"))},
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
