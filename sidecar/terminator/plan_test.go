// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows the plans of pods: a line each, as podOf reads it, and "-" for no restart policy. Behind a semicolon stands what
// is changed about them, and behind # what the line shows.
//
//	{status: {phase: Pending}}                              a strategic merge patch of the pod, behind all other changes
//	status-missing, status-too-many, status-of-another      its statuses of containers do not fit
//	given=10s, learned                                      the phase Succeeded was given so long ago; the kubelet has learned of it since
//	seen=10s                                                since when this controller knows that it was given
//	request=10s, over                                       there is a request for a, and it is completed
//	leave                                                   the phase is left to kubelets
//
// To accept a change of behaviour, run the test with -rewrite and read the difference.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return patches.EachLine(d.Input, func(line string) string { return planOf(t, line) })
		})
	})
}

// snapshotOf reads a line.
func snapshotOf(t *testing.T, line string) *Snapshot {
	t.Helper()
	text, edits, _ := strings.Cut(strings.TrimPrefix(line, "-"), "; ")
	s := &Snapshot{Pod: podOf(t, text), Now: at}
	edits, patch, patched := strings.Cut(edits, "{")
	for word := range strings.FieldsSeq(edits) {
		key, value, _ := strings.Cut(word, "=")
		changeBy(t, s, key, value)
	}
	if patched {
		patches.Strategic(t, s.Pod, "{"+patch)
	}
	s.Node = nodes[s.Pod.Spec.NodeName]
	return s
}

// planOf shows the plan for a line.
func planOf(t *testing.T, line string) string {
	t.Helper()
	s, text := snapshotOf(t, line), strings.Split(line, ";")[0]
	plan := NewPlan(s)
	left, requested := *s, *s
	left.LeavePhase, requested.Request = true, requestOf(s.Pod, time.Second, "a")
	if plan := NewPlan(&left); plan.Phase != "" && !strings.Contains(text, "x") {
		t.Errorf("ST-19: %s: %s", line, plan)
	}
	if plan := NewPlan(&requested); plan.Create != nil {
		t.Errorf("ST-11: %s: %s, and there is a request", line, plan)
	}
	shown := describe(plan)
	for _, w := range plan.Waiting {
		shown += fmt.Sprintf("\n%s: %s", w.Name, w.Reason)
	}
	if plan.RequeueAfter > 0 {
		shown += fmt.Sprint("\nagain after ", plan.RequeueAfter)
	}
	return shown
}

// changeBy makes a change.
func changeBy(t *testing.T, s *Snapshot, key, value string) {
	t.Helper()
	pod := s.Pod
	statuses := &pod.Status.ContainerStatuses
	switch key {
	case "status-missing":
		*statuses = (*statuses)[:1]
	case "status-too-many":
		*statuses = append(*statuses, corev1.ContainerStatus{Name: "x"})
	case "status-of-another":
		(*statuses)[0].Name = "x"
	case "learned":
		learn(pod)
	case "given":
		if value == "never" {
			give(pod, corev1.PodSucceeded, time.Time{})
			break
		}
		give(pod, corev1.PodSucceeded, at.Add(-patches.Duration(t, value)))
	case "seen":
		s.PhaseSeen = at.Add(-patches.Duration(t, value))
	case "request":
		s.Request = requestOf(pod, patches.Duration(t, value), "a")
	case "over":
		completed(s.Request)
	case "leave":
		s.LeavePhase = true
	default:
		t.Fatalf("no such change: %s", key)
	}
}

// The request is that of the contract. (ST-11)
func TestRequest(t *testing.T) {
	got, err := json.Marshal(NewPlan(&Snapshot{Pod: podOf(t, "OnFailure main:0 b=r:running a=r:running"), Node: nodes["real"], Now: at}).Create)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"metadata":{"name":"sidecar-termination-uid","namespace":"default",` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web","uid":"uid","controller":true,"blockOwnerDeletion":true}]},` +
		`"spec":{"podName":"web","containers":[{"name":"a"},{"name":"b"}],"strategy":{"failurePolicy":"Ignore","forceRecreate":true}},"status":{"phase":""}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// How long it took counts from the end of the last main container. (ST-17)
func TestTook(t *testing.T) {
	pod := podOf(t, "OnFailure main:0 other:0 a=r:0")
	pod.Status.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.NewTime(at.Add(-3 * time.Second))
	pod.Status.ContainerStatuses[2].State.Terminated.FinishedAt = metav1.NewTime(at.Add(-time.Second))
	for phase, want := range map[corev1.PodPhase]time.Duration{corev1.PodRunning: 0, corev1.PodSucceeded: 3 * time.Second, corev1.PodFailed: 3 * time.Second} {
		pod.Status.Phase = phase
		if got := NewPlan(&Snapshot{Pod: pod, Node: nodes["real"], Now: at}).Took; got != want {
			t.Errorf("%s: %s, want %s", phase, got, want)
		}
	}
}

// A plan without a pod is empty, and says why.
func TestWithoutPod(t *testing.T) {
	for name, s := range map[string]*Snapshot{"no snapshot": nil, "no pod": {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || !strings.Contains(plan.String(), plan.Problems[0].Err.Error()) {
			t.Errorf("%s: problems %v, plan %q", name, plan.Problems, plan)
		}
	}
}
