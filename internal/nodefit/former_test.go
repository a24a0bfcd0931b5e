// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DS-7: names of pods that came to their node otherwise than one after another are remembered, so that no name comes again.
func TestNamesOfOtherPods(t *testing.T) {
	web := &metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "1"}
	first := PodName(web, "n", "", 0)
	second := PodName(web, "n", first, 0)
	pod := func(name string, second int64) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(fmt.Sprint(name, second)), CreationTimestamp: metav1.Unix(second, 0),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(web, corev1.SchemeGroupVersion.WithKind("Toy"))}}}
		pod.Spec.NodeName = "n"
		return pod
	}
	theirs := pod(second, 1)
	theirs.OwnerReferences = nil
	nodes := []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}
	for _, tt := range []struct {
		name  string
		looks [][]*corev1.Pod
		want  []string
	}{
		{"one after the other", [][]*corev1.Pod{{}, {pod(first, 1)}, {pod(first, 1), pod(second, 1)}, {pod(second, 1)}, {}}, nil},
		{"what was there when the process began", [][]*corev1.Pod{{pod("web-old", 1)}, {pod("web-old", 1), pod(PodName(web, "n", "web-old", 0), 2)}}, nil},
		{"a pod of another name, then the first one", [][]*corev1.Pod{{}, {pod(second, 1)}, {pod(second, 1), pod(first, 2)}, {pod(first, 2)}, {}}, []string{first, second}},
		{"both at once", [][]*corev1.Pod{{}, {pod("web-x", 1), pod(first, 2)}}, []string{first, "web-x"}},
		{"both at once, the other way round", [][]*corev1.Pod{{}, {pod(first, 2), pod("web-x", 1)}}, []string{first, "web-x"}},
		{"a pod of another owner", [][]*corev1.Pod{{}, {theirs}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var formers Formers
			var names map[string]bool
			for _, pods := range tt.looks {
				before, was := names, maps.Clone(names)
				_, names = formers.Look(web, pods, nodes)
				if !maps.Equal(before, was) {
					t.Errorf("names that were returned change from %v to %v", was, before)
				}
			}
			got, want := slices.Sorted(maps.Keys(names)), slices.Sorted(slices.Values(tt.want))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// Not more names are remembered than pods of nodes that are gone.
func TestNamesOfOtherPodsAreFew(t *testing.T) {
	web := &metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "1"}
	var formers Formers
	var names map[string]bool
	for i := range 3 * mostGone {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i), UID: types.UID(fmt.Sprint(i)), CreationTimestamp: metav1.NewTime(time.Unix(int64(i), 0)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(web, corev1.SchemeGroupVersion.WithKind("Toy"))}}}
		pod.Spec.NodeName = "n"
		if _, names = formers.Look(web, []*corev1.Pod{pod}, nil); i > 1 && !names[pod.Name] || len(names) > mostGone+1 {
			t.Fatalf("%d names after %d pods", len(names), i)
		}
	}
}
