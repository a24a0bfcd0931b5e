// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// budgeted is a pod that names a budget, empty for none.
func budgeted(name, budget string, ready bool) *corev1.Pod {
	p := uidPod(name)
	if budget != "" {
		p.Annotations = map[string]string{availabilityv1alpha1.RelatedPubAnnotation: budget}
	}
	if ready {
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

// What a budget has denied comes after the other pods, and so do those that the same budget protects, until it has room again. (CT-10)
func TestDenials(t *testing.T) {
	now := time.Unix(1000, 0)
	later := now.Add(time.Minute)
	type answer struct {
		pod     *corev1.Pod
		allowed bool
	}
	a, b, unready := budgeted("web-a", "pub", true), budgeted("web-b", "pub", true), budgeted("web-c", "pub", false)
	free, other := budgeted("web-d", "", true), budgeted("web-e", "other", true)
	all := []*corev1.Pod{a, b, unready, free, other}
	for _, test := range []struct {
		name    string
		answers []answer
		change  func(set *metav1.ObjectMeta, w *Writer)
		pods    []*corev1.Pod
		want    map[string]rollout.Denial
	}{
		{"CT-10: nothing is denied", nil, nil, all, nil},
		{"CT-10: one is allowed", []answer{{a, true}}, nil, all, nil},
		{"CT-10: the budget has no room", []answer{{a, false}}, nil, all, map[string]rollout.Denial{
			"web-a": {Budget: "pub", Since: now, Asked: now}, "web-b": {Budget: "pub", Since: now}}},
		{"CT-10: a pod that is not ready stands for itself", []answer{{unready, false}}, nil, all, map[string]rollout.Denial{
			"web-c": {Budget: "pub", Since: now, Asked: now}}},
		{"CT-10: so does one without a budget", []answer{{free, false}}, nil, all, map[string]rollout.Denial{"web-d": {Since: now, Asked: now}}},
		{"CT-10: the budget has room again", []answer{{a, false}, {b, true}}, nil, []*corev1.Pod{b, other}, nil},
		{"CT-10: the one that was asked about still waits then", []answer{{a, false}, {b, true}}, nil, all, map[string]rollout.Denial{
			"web-a": {Budget: "pub", Since: now, Asked: now}}},
		{"CT-10: one that is not ready makes no room", []answer{{a, false}, {unready, true}}, nil, []*corev1.Pod{b}, map[string]rollout.Denial{
			"web-b": {Budget: "pub", Since: now}}},
		{"CT-10: a pod has become ready", []answer{{unready, false}}, nil, []*corev1.Pod{budgeted("web-c", "pub", true)}, nil},
		{"CT-10: all of the budget's pods are gone", []answer{{a, false}}, nil, []*corev1.Pod{free, other}, nil},
		{"a new generation", []answer{{a, false}}, func(set *metav1.ObjectMeta, _ *Writer) { set.Generation++ }, all, nil},
		{"another workload of the name", []answer{{a, false}}, func(set *metav1.ObjectMeta, _ *Writer) { set.UID = "another" }, all, nil},
		{"forgotten", []answer{{a, false}}, func(set *metav1.ObjectMeta, w *Writer) { w.Forget(keyOf(set)) }, all, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, w := &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 1}, &Writer{}
			for _, answer := range test.answers {
				w.denials.answered(set, answer.pod, now, answer.allowed)
			}
			if test.change != nil {
				test.change(set, w)
			}
			for range 2 { // to look changes nothing
				var got map[string]rollout.Denial
				for _, pod := range test.pods {
					if denial, found := w.Refused(set, test.pods, later).Denied[pod.UID]; found {
						if got == nil {
							got = map[string]rollout.Denial{}
						}
						got[pod.Name] = denial
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("denied (-want +got):\n%s", diff)
				}
			}
		})
	}
}
