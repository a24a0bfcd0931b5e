// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// Feasible and Begin agree on every pod but those in their grace period, which
// have only to be waited for.
func TestFeasible(t *testing.T) {
	u := calculate(t, template(), template(image(2, "c3:2")))
	note := func(key, value string, more ...func(*corev1.Pod)) *corev1.Pod {
		return running(template(), append(more, func(pod *corev1.Pod) { pod.Annotations[key] = value })...)
	}
	updating := func(pod *corev1.Pod) { pod.Status.Conditions[2].Status = "False" }
	state := func(text string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Annotations[v1alpha1.StateAnnotation] = text }
	}
	const envWaits = `{"revision":"demo-old","updateTimestamp":"2024-05-06T07:08:09Z","updateEnvFromMetadata":true}`
	for _, tt := range []struct {
		name  string
		pod   *corev1.Pod
		u     *inplace.Update
		want  string // Part of the error; empty for none.
		grace bool   // Begin refuses it all the same.
	}{
		{name: "a pod never updated", pod: running(template()), u: u},
		{name: "a pod updated before", pod: note(v1alpha1.StateAnnotation, `{"revision":"demo-old","updateTimestamp":"2024-05-06T07:08:09Z"}`), u: u},
		{name: "no update", pod: running(template()), want: "Begin needs an update"},
		{
			name: "a container that the pod does not have", u: u, want: `container "c3", which the pod does not have`,
			pod: running(template(func(t *corev1.PodTemplateSpec) { t.Spec.Containers = t.Spec.Containers[:2] })),
		},
		{name: "IP-E14: broken state", pod: note(v1alpha1.StateAnnotation, `{`), u: u, want: "not readable"},
		{name: "IP-E14: broken state, in the middle of an update", pod: note(v1alpha1.StateAnnotation, `{`, updating), u: u, want: "not readable"},
		{name: "IP-E14: no object", pod: note(v1alpha1.StateAnnotation, `7`), u: u, want: "not readable"},
		{name: "IP-E14: under the old name", pod: note(v1alpha1.LegacyStateAnnotation, `x`), u: u, want: "not readable"},
		{name: "IP-E14: a wrong type, in the middle of an update", pod: note(v1alpha1.StateAnnotation, `{"revision":7}`, updating), u: u, want: "not readable"},
		{name: "a wrong type in a record that is history", pod: note(v1alpha1.StateAnnotation, `{"revision":7}`), u: u},
		{
			name: "a broken report, on which an earlier update waits", u: u, want: "not readable",
			pod: note(v1alpha1.RuntimeContainersMetaAnnotation, `{`, updating, state(envWaits)),
		},
		{name: "a broken report that nobody needs", pod: note(v1alpha1.RuntimeContainersMetaAnnotation, `{`), u: u},
		{
			name: "IP-23: in its grace period", u: u, grace: true,
			pod: note(v1alpha1.GraceAnnotation, `{"revision":"demo-old"}`, state(`{"revision":"demo-old","updateTimestamp":"2024-05-06T07:08:09Z"}`)),
		},
		{name: "IP-22: in its grace period for ever", pod: note(v1alpha1.GraceAnnotation, `{}`), u: u, want: "which is missing"},
		{name: "a broken change in its grace period", pod: note(v1alpha1.GraceAnnotation, `{`, state(`{}`)), u: u, want: "not readable"},
		{name: "a broken state in its grace period", pod: note(v1alpha1.GraceAnnotation, `{}`, state(`{`)), u: u, want: "not readable"},
		{
			name: "a change in its grace period that cannot be made", u: u, want: `container "c4", which the pod does not have`,
			pod: note(v1alpha1.GraceAnnotation, `{"containerImages":{"c4":"c4:2"}}`, state(`{}`)),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := inplace.Feasible(tt.pod, tt.u)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			begin := inplace.Begin(&podpatch.Patch{}, tt.pod, tt.u, inplace.BeginOptions{Now: start()})
			if (begin == nil) != (err == nil && !tt.grace) {
				t.Errorf("Feasible says %v, Begin %v", err, begin)
			}
		})
	}
}

// A reconcile asks for every pod that might be updated.
func TestFeasibleDoesNotAllocate(t *testing.T) {
	updated := begin(t, running(template()), calculate(t, template(), template(image(0, "c1:2"))), 0)
	kubelet(updated)
	updated, _ = refresh(t, updated, after(10))
	u := calculate(t, template(), template(image(1, "c2:2"), label("k", "w")))
	for name, pod := range map[string]*corev1.Pod{"a pod never updated": running(template()), "a pod updated before": updated} {
		if n := testing.AllocsPerRun(100, func() {
			if err := inplace.Feasible(pod, u); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
