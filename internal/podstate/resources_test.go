// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestQOSClass(t *testing.T) {
	list := func(pairs ...string) corev1.ResourceList {
		var out corev1.ResourceList
		for i := 0; i < len(pairs); i += 2 {
			SetQuantity(&out, corev1.ResourceName(pairs[i]), resource.MustParse(pairs[i+1]))
		}
		return out
	}
	both := list("cpu", "1", "memory", "1Gi")
	for _, test := range []struct {
		name             string
		requests, limits corev1.ResourceList // of one container
		init             corev1.ResourceList // limits of an init container
		want             corev1.PodQOSClass
	}{
		{"nothing", nil, nil, nil, corev1.PodQOSBestEffort},
		{"zeros", list("cpu", "0"), list("memory", "0"), nil, corev1.PodQOSBestEffort},
		{"another resource", list("ephemeral-storage", "1Gi"), nil, nil, corev1.PodQOSBestEffort},
		{"a request", list("cpu", "1"), nil, nil, corev1.PodQOSBurstable},
		{"limits stand for requests", nil, both, nil, corev1.PodQOSGuaranteed},
		{"both", both, both, nil, corev1.PodQOSGuaranteed},
		{"a limit of one", nil, list("cpu", "1"), nil, corev1.PodQOSBurstable},
		{"a smaller request", list("cpu", "500m"), both, nil, corev1.PodQOSBurstable},
		{"an init container lacks memory", both, both, list("cpu", "1"), corev1.PodQOSBurstable},
		{"an init container has both", both, both, both, corev1.PodQOSGuaranteed},
	} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: test.requests, Limits: test.limits}}}}
		if test.init != nil {
			spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: test.init}}}
		}
		if got := QOSClass(spec); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
