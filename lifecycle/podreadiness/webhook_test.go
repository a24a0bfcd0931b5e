// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestMutate(t *testing.T) {
	owned := func(apiVersion string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			{APIVersion: apiVersion, Kind: "BroadcastJob", Name: "job", UID: "j", Controller: new(true)},
		}}}
	}
	for _, test := range []struct {
		name      string
		pod       *corev1.Pod
		some, all bool
	}{
		{"PR-1: the controller is of the group", owned("apps.kruise.io/v1alpha1"), true, true},
		{"PR-1: a controller of another group", owned("batch/v1"), false, true},
		{"PR-1: a pod on its own", &corev1.Pod{}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, mutate := range []struct {
				name string
				do   func(*corev1.Pod) error
				want bool
			}{
				{"Mutate", func(pod *corev1.Pod) error {
					return podreadiness.Mutate(t.Context(), &admissionv1.AdmissionRequest{}, pod)
				}, test.some},
				{"MutateAll", func(pod *corev1.Pod) error {
					return podreadiness.MutateAll(t.Context(), &admissionv1.AdmissionRequest{}, pod)
				}, test.all},
			} {
				pod := test.pod.DeepCopy()
				for range 2 { // PR-2: once
					if err := mutate.do(pod); err != nil {
						t.Fatal(err)
					}
				}
				if got := readiness.HasGate(pod, v1alpha1.KruisePodReady); got != mutate.want || len(pod.Spec.ReadinessGates) > 1 {
					t.Errorf("%s: gates %v, want one: %t", mutate.name, pod.Spec.ReadinessGates, mutate.want)
				}
			}
		})
	}
}
