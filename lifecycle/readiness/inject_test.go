// SPDX-License-Identifier: Apache-2.0

package readiness_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestInjectGate(t *testing.T) {
	const own, other = string(v1alpha1.KruisePodReady), "example.com/registered"
	owner := func(apiVersion string, controller bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: "BroadcastJob", Name: "job", UID: "j", Controller: &controller}
	}
	for _, test := range []struct {
		name   string
		owners []metav1.OwnerReference
		all    bool
		gates  []string
		want   []string
	}{
		{"PR-1: the controller is of the group", []metav1.OwnerReference{owner("apps.kruise.io/v1alpha1", true)}, false, nil, []string{own}},
		{"PR-1: in any version", []metav1.OwnerReference{owner("apps.kruise.io/v2", true)}, false, nil, []string{own}},
		{"PR-1: an owner of the group that is not the controller", []metav1.OwnerReference{owner("apps.kruise.io/v1alpha1", false)}, false, nil, nil},
		{"PR-1: a controller of another group", []metav1.OwnerReference{owner("apps/v1", true)}, false, nil, nil},
		{"PR-1: a controller of the core group", []metav1.OwnerReference{owner("v1", true)}, false, nil, nil},
		{"PR-1: a controller of no group", []metav1.OwnerReference{owner("a/b/c", true)}, false, nil, nil},
		{"PR-1: all pods", []metav1.OwnerReference{owner("apps/v1", true)}, true, nil, []string{own}},
		{"PR-1: appended", []metav1.OwnerReference{owner("apps.kruise.io/v1alpha1", true)}, false, []string{other}, []string{other, own}},
		{"PR-2: no duplicates", []metav1.OwnerReference{owner("apps.kruise.io/v1alpha1", true)}, true, []string{own, other}, []string{own, other}},
		{"PR-E8: a pod without an owner", nil, false, []string{other}, []string{other}},
		{"PR-E8: a pod without an owner, all pods", nil, true, nil, []string{own}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: test.owners}}
			for _, gate := range test.gates {
				readiness.AddGate(&pod.Spec, corev1.PodConditionType(gate))
			}
			changed := readiness.InjectGate(pod, test.all)
			var got []string
			for _, gate := range pod.Spec.ReadinessGates {
				got = append(got, string(gate.ConditionType))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("gates (-want +got):\n%s", diff)
			}
			if changed != (len(test.want) > len(test.gates)) {
				t.Errorf("it says changed: %v", changed)
			}
		})
	}
}
