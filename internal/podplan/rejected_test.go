// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CT-8: rejected pods are replaced at once as often as pods are wanted, and then more and more slowly, until one runs.
func TestRejected(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var pods []*corev1.Pod
	add := func(second int, phase corev1.PodPhase, ran bool) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start.Add(time.Duration(second) * time.Second))}, Status: corev1.PodStatus{Phase: phase, Reason: "OutOfcpu"}}
		if ran {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{ContainerID: "c"}}
		}
		pods = append(pods, p)
	}
	expect := func(what string, wanted int32, number int32, wait time.Duration) {
		t.Helper()
		r := Rejected(pods)
		until, want := r.Until(wanted), time.Time{}
		if wait > 0 {
			want = r.last.CreationTimestamp.Add(wait)
		}
		if r.pods != number || !until.Equal(want) {
			t.Errorf("%s: %d rejected, the next at %s; want %d, %s", what, r.pods, until, number, want)
		}
	}
	expect("none", 3, 0, 0)
	add(0, corev1.PodFailed, true)
	add(0, corev1.PodRunning, true)
	add(0, corev1.PodPending, false)
	add(0, corev1.PodFailed, false)
	expect("what ran, and what was created beside it", 3, 0, 0)
	for i := range 3 {
		add(1+i, corev1.PodFailed, false)
	}
	expect("the first ones", 3, 3, 0)
	add(4, corev1.PodFailed, false)
	expect("one that replaces another", 3, 4, time.Second)
	expect("of one replica", 1, 4, 4*time.Second)
	for i := range 3 {
		add(5+i, corev1.PodFailed, false)
	}
	expect("the next ones", 3, 7, 2*time.Second)
	if r := Rejected(pods); r.Reason() != "OutOfcpu" || r.last.CreationTimestamp.Time != start.Add(7*time.Second) {
		t.Errorf("last %v, reason %s", r.last.CreationTimestamp, r.Reason())
	}
	for i := range 100 {
		add(10+i, corev1.PodFailed, false)
	}
	expect("many", 3, 107, 5*time.Minute)
	add(500, corev1.PodRunning, true)
	expect("one that runs again", 3, 0, 0)
}
