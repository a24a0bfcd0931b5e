// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestHooked(t *testing.T) {
	two := hook([]string{"a", "b"})
	mixed := hook([]string{"a"}, "f")
	tests := []struct {
		name     string
		hook     *v1alpha1.LifecycleHook
		pod      *corev1.Pod
		any, all bool
	}{
		{"LC-1, LC-2: nil hook", nil, newPod("", label("a", "true")), false, false},
		{"LC-1, LC-2: empty hook", hook(nil), newPod(""), false, true},
		{"LC-1: one of two labels", two, newPod("", label("b", "true")), true, false},
		{"LC-1: one of two finalizers", hook(nil, "f", "g"), newPod("", finalizer("g")), true, false},
		{"LC-2: all labels", two, newPod("", label("a", "true"), label("b", "true")), true, true},
		{"LC-2: all labels and finalizers", mixed, newPod("", label("a", "true"), finalizer("e"), finalizer("f")), true, true},
		{"LC-1, LC-2: none", mixed, newPod(""), false, false},
		{"LC-E1: two labels, one removed", two, newPod("", label("a", "true")), true, false},
		{"LC-E3: another value", hook([]string{"a"}), newPod("", label("a", "false")), false, false},
		{"LC-E3: another case", hook([]string{"a"}), newPod("", label("a", "True")), false, false},
		{"LC-E3: another case of the key", hook([]string{"a"}), newPod("", label("A", "true")), false, false},
		{"LC-E4: the finalizer but not the label", mixed, newPod("", finalizer("f")), true, false},
		{"an empty value wants the label", &v1alpha1.LifecycleHook{LabelsHandler: map[string]string{"a": ""}}, newPod(""), false, false},
		{"an empty value is a value", &v1alpha1.LifecycleHook{LabelsHandler: map[string]string{"a": ""}}, newPod("", label("a", "")), true, true},
		{"a pod without labels", two, &corev1.Pod{}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lifecycle.HookedAny(tt.hook, tt.pod); got != tt.any {
				t.Errorf("HookedAny: want %v, got %v", tt.any, got)
			}
			if got := lifecycle.HookedAll(tt.hook, tt.pod); got != tt.all {
				t.Errorf("HookedAll: want %v, got %v", tt.all, got)
			}
		})
	}
}
