// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// What waits is named as far as it has names, and why.
func TestWaitString(t *testing.T) {
	pod, full := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-3"}}, &rollout.Reason{Rule: rollout.RulePaused, Message: "paused"}
	of := func(kind, name string, in *rollout.Subject) rollout.Wait {
		return rollout.Wait{Subject: rollout.Subject{Kind: kind, Name: name}, In: in, Reason: full}
	}
	for _, test := range []struct {
		wait                rollout.Wait
		subject, text, line string
	}{
		{rollout.PodWaits(pod, full), "pod web-3", "web-3: paused", "wait web-3: paused"},
		{rollout.PodWaits(nil, full), "pod", "new pods: paused", "wait new pods: paused"},
		{of("node", "n1", nil), "node n1", "node n1: paused", "wait node n1: paused"},
		{of("", "", nil), "", "paused", "wait: paused"},
		{of("", "Paused", nil), "Paused", "paused", "wait: paused"},
		{of("container", "main", &rollout.Subject{Kind: "request", Name: "r"}), "container main", "container main of request r: paused", "wait container main of request r: paused"},
		{of("", "", &rollout.Subject{Kind: "request", Name: "r"}), "", "request r: paused", "wait request r: paused"},
		{rollout.Wait{Subject: rollout.Subject{Kind: "node", Name: "n1"}}, "node n1", "node n1", "wait node n1"},
		{rollout.PodWaits(pod, &rollout.Reason{Rule: rollout.RulePaused}), "pod web-3", "web-3: Paused", "wait web-3: Paused"},
	} {
		if s, text, line := test.wait.Subject.String(), test.wait.String(), test.wait.Line(); s != test.subject || text != test.text || line != test.line {
			t.Errorf("%q, %q, %q; want %q, %q, %q", s, text, line, test.subject, test.text, test.line)
		}
	}
}

// Problems are errors, with the condition that reports each, if there is one.
func TestProblems(t *testing.T) {
	one, other := errors.New("one"), errors.New("other")
	if got := rollout.ProblemsOf(nil, one, nil); len(got) != 1 || got[0].Err != one || got[0].Condition != "" {
		t.Errorf("got %v", got)
	}
	if rollout.ProblemsOf(nil) != nil || rollout.ErrorOf(nil) != nil {
		t.Error("nothing is a problem")
	}
	if got := rollout.ErrorOf(rollout.ProblemsOf(one)); got != one {
		t.Errorf("a single problem is %v", got)
	}
	if got := rollout.ErrorOf(rollout.ProblemsOf(one, other)); !errors.Is(got, one) || !errors.Is(got, other) {
		t.Errorf("two problems are %v", got)
	}
	got := fmt.Sprint(rollout.Problem{Err: one}, "; ", rollout.Problem{Condition: "FailedScale", Err: one}, "; ", rollout.Problem{Condition: "FailedScale"}, "; ", rollout.Problem{})
	if want := "problem: one; problem FailedScale: one; problem FailedScale; problem"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
