// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
)

var errRefused = errors.New("refused")

// uidPod is a pod that was created.
func uidPod(name string) *corev1.Pod {
	p := pod(name)
	p.UID = types.UID("uid-" + name)
	return p
}

// After a refused update the next one waits: twice as long each time until one is served, five minutes at most.
// Those that were under way at the same time count as one. (IP-39)
func TestRefusalsBackOff(t *testing.T) {
	set := &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 1}
	now := time.Unix(1000, 0)
	one, other := uidPod("web-0"), uidPod("web-1")
	pods := []*corev1.Pod{one, other}
	var w Writer
	refuse := func(pods ...*corev1.Pod) {
		for _, p := range pods {
			w.refusals.ended(set, p, w.version(p), now, errRefused)
		}
	}
	wait := func() time.Duration { return w.Refused(set, pods, now).Until.Sub(now) }

	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		refuse(one, other)
		if got := wait(); got != want*time.Second {
			t.Errorf("after %d times: waits %s, want %s", i+1, got, want*time.Second)
		}
		now = now.Add(wait())
	}
	refuse(one)
	before := wait()
	w.refusals.ended(set, other, "", now, nil)
	if got := wait(); got != before {
		t.Errorf("one that was served beside it: waits %s, want %s", got, before)
	}
	now = now.Add(before)
	refuse(one)
	if got := wait(); got != before {
		t.Errorf("and its wait begins anew: %s, want %s", got, before)
	}
	now = now.Add(before)
	w.refusals.ended(set, other, "", now, nil)
	refuse(one)
	if got := wait(); got != time.Second {
		t.Errorf("one was served after the wait: waits %s, want a second", got)
	}
}

// What is remembered of refusals, and until when. (IP-39)
func TestRefusalsAreRemembered(t *testing.T) {
	now := time.Unix(1000, 0)
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("changed"))
	for _, test := range []struct {
		name  string
		err   error
		act   func(w *Writer, set *metav1.ObjectMeta, pod *corev1.Pod)
		after time.Duration
		want  bool // the pod is known as refused
		waits bool
	}{
		{"refused", errRefused, nil, 0, true, true},
		{"for longer than the wait", errRefused, nil, time.Hour, true, false},
		{"a conflict is none", conflict, nil, 0, false, false},
		{"success is none", nil, nil, 0, false, false},
		{"an unsupported resize need not wait", &rollout.ResizeError{Err: errRefused, Unsupported: true}, nil, 0, true, false},
		{"another resize does", &rollout.ResizeError{Err: errRefused}, nil, 0, true, true},
		{"the pod has changed", errRefused, func(_ *Writer, _ *metav1.ObjectMeta, pod *corev1.Pod) {
			pod.Labels = map[string]string{podplan.RevisionLabel: "web-2"}
		}, 0, false, true},
		{"the pod has changed, and the wait is over", errRefused, func(_ *Writer, _ *metav1.ObjectMeta, pod *corev1.Pod) {
			pod.Labels = map[string]string{podplan.RevisionLabel: "web-2"}
		}, time.Second, false, false},
		{"another pod of the name", errRefused, func(_ *Writer, _ *metav1.ObjectMeta, pod *corev1.Pod) { pod.UID = "another" }, 0, false, true},
		{"it was served since", errRefused, func(w *Writer, set *metav1.ObjectMeta, pod *corev1.Pod) {
			w.refusals.ended(set, pod, w.version(pod), now, nil)
		}, 0, false, true},
		{"another generation", errRefused, func(_ *Writer, set *metav1.ObjectMeta, _ *corev1.Pod) { set.Generation++ }, 0, false, false},
		{"another workload of the name", errRefused, func(_ *Writer, set *metav1.ObjectMeta, _ *corev1.Pod) { set.UID = "another" }, 0, false, false},
		{"forgotten", errRefused, func(w *Writer, set *metav1.ObjectMeta, _ *corev1.Pod) { w.refusals.forget(keyOf(set)) }, 0, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w Writer
			set, pod := &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 1}, uidPod("web-0")
			w.refusals.ended(set, pod, w.version(pod), now, test.err)
			if test.act != nil {
				test.act(&w, set, pod)
			}
			got := w.Refused(set, []*corev1.Pod{pod}, now.Add(test.after))
			if known := got.Pods[pod.UID] != nil; known != test.want || (got.Err != nil) != test.want || got.At[pod.UID].Equal(now) != test.want {
				t.Errorf("refused %v at %v, summary %v; want it known: %t", got.Pods, got.At, got.Err, test.want)
			}
			if waits := got.Until.After(now.Add(test.after)); waits != test.waits {
				t.Errorf("waits until %s: %t, want %t", got.Until, waits, test.waits)
			}
		})
	}
}

// A kind names what an update changes in a pod: if that has changed since, the update was made although it seemed to be refused. (IP-39)
func TestVersionedBy(t *testing.T) {
	p := pod("web-0")
	p.Labels = map[string]string{podplan.RevisionLabel: "web-1", "hash": "1"}
	p.Annotations = map[string]string{"state": "2"}
	for want, by := range map[string][]string{"web-1": nil, "12": {"hash", "state"}, "2": {"state"}} {
		if got := (&Writer{VersionedBy: by}).version(p); got != want {
			t.Errorf("by %q: %q, want %q", by, got, want)
		}
	}
}
