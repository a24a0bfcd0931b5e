// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
)

// TestBudgetsAreJudged makes sure that the judge of the other tests would find what it is there for.
func TestBudgetsAreJudged(t *testing.T) {
	t.Parallel()
	pod := func(edit func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "1",
				OwnerReferences: []metav1.OwnerReference{{Kind: "CloneSet", Name: "web", Controller: new(true)}}},
			Spec: corev1.PodSpec{
				Containers:     []corev1.Container{{Name: "main", Image: "web:1"}},
				ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "gate"}},
			},
			Status: corev1.PodStatus{
				Phase:             corev1.PodRunning,
				Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}, {Type: "gate", Status: "True"}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "web:1", Ready: true}},
			},
		}
		edit(p)
		return p
	}
	for _, test := range []struct {
		name   string
		edit   func(*corev1.Pod)
		broken bool
	}{
		{"a pod in service", func(*corev1.Pod) {}, false},
		{"not Ready", func(p *corev1.Pod) { p.Status.Conditions[0].Status = "False" }, true},
		{"Ready, but its gate is closed", func(p *corev1.Pod) { p.Status.Conditions[1].Status = "False" }, true},
		{"Ready, but the kubelet will restart it", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "web:2" }, true},
		{"Ready, but its container is not", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false }, true},
		{"Ready, but being deleted", func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, true},
		{"Ready, but failed", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		{"of another owner", func(p *corev1.Pod) { p.OwnerReferences[0].Name = "other" }, true},
	} {
		good := pod(func(*corev1.Pod) {})
		moment := []podhistory.Change{{New: good}, {Old: good, New: pod(test.edit)}, {Old: pod(test.edit), New: good}}
		_, violations := (&budget{minAvailable: 1, maxPods: 1, since: 1}).judge("web", moment)
		if broken := len(violations) == 1; broken != test.broken {
			t.Errorf("%s: expected broken=%v, observed %v", test.name, test.broken, violations)
		}
	}
	two := []podhistory.Change{{New: pod(func(*corev1.Pod) {})}, {New: pod(func(p *corev1.Pod) { p.UID = "2" })}}
	if _, violations := (&budget{minAvailable: 1, maxPods: 1, since: 1}).judge("web", two); len(violations) != 1 {
		t.Errorf("two pods where one is allowed: expected a violation, observed %v", violations)
	}
	if _, violations := (&budget{minAvailable: 1, maxPods: 1, since: 1}).judge("web", two[:1]); len(violations) != 0 {
		t.Errorf("what was before does not count: expected no violation, observed %v", violations)
	}
}

// TestOrderIsJudged does the same for the order of updates.
func TestOrderIsJudged(t *testing.T) {
	t.Parallel()
	update := func(ordinals ...int) (acts []string) {
		for _, ordinal := range ordinals {
			acts = append(acts, fmt.Sprintf("update web-%d", ordinal), fmt.Sprintf("serve web-%d", ordinal))
		}
		return acts
	}
	for _, test := range []struct {
		name  string
		acts  []string
		wrong bool
	}{
		{"from the highest down", update(3, 2, 1, 0), false},
		{"neighbours of one reconcile", update(2, 3, 0, 1), false},
		{"one that was left behind is overtaken by one after the other", update(2, 1, 3, 0), false},
		{"one overtakes two", update(1, 3, 2, 0), true},
		{"the last one overtakes two", update(3, 0, 2, 1), true},
		{"one twice", update(3, 3, 2, 1, 0), true},
		{"one is left out", update(3, 2, 0), true},
	} {
		if wrong := outOfOrder(test.acts, 4, 2); (wrong != "") != test.wrong {
			t.Errorf("%s: expected wrong=%v, observed %q", test.name, test.wrong, wrong)
		}
	}
}
