// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows the plans of pods: a line each, as podOf reads it, and "-" for no restart policy. Behind a semicolon stands what
// is changed about them, and behind # what the line shows. The command "request" shows the requests that plans create.
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
			return patches.EachLine(d.Input, func(line string) string {
				if d.Cmd == "request" {
					return patches.JSON(t, NewPlan(snapshotOf(t, line)).Create)
				}
				return planOf(t, line)
			})
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
	if plan.Took > 0 {
		shown += fmt.Sprint("\nended after ", plan.Took)
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

// A plan without a pod is empty, and says why.
func TestWithoutPod(t *testing.T) {
	for name, s := range map[string]*Snapshot{"no snapshot": nil, "no pod": {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || !strings.Contains(plan.String(), plan.Problems[0].Err.Error()) {
			t.Errorf("%s: problems %v, plan %q", name, plan.Problems, plan)
		}
	}
}
