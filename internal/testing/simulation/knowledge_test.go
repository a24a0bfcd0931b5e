// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestLearn: of its own write a process knows what the write changed, and not
// what others had changed before.
func TestLearn(t *testing.T) {
	pod := func(labels map[string]string, owner string, conditions ...corev1.PodConditionType) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "u", Labels: labels}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Name: owner}}
		}
		for _, t := range conditions {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t})
		}
		return p
	}
	known := pod(map[string]string{"a": "1", "old": "x"}, "web")
	before := pod(map[string]string{"a": "2", "old": "x"}, "", "Ready") // a user has changed a, and disowned it
	after := pod(map[string]string{"a": "2", "new": "y"}, "", "Ready", "InPlaceUpdateReady")
	k := &knowledge{objects: map[string]map[string]Object{pods: {"web-0": known}}}

	k.learn(pods, &change{object: after, before: before})
	want := pod(map[string]string{"a": "1", "new": "y"}, "web", "InPlaceUpdateReady")
	if diff := cmp.Diff(Object(want), k.objects[pods]["web-0"]); diff != "" {
		t.Errorf("after a patch (-want +got):\n%s", diff)
	}
	k.learn(pods, &change{object: after, before: after, gone: true})
	if left := k.objects[pods]["web-0"]; left != nil {
		t.Errorf("after a deletion it knows %v", left)
	}
	k.learn(pods, &change{object: after})
	if diff := cmp.Diff(Object(after), k.objects[pods]["web-0"]); diff != "" {
		t.Errorf("after a creation (-want +got):\n%s", diff)
	}
}
