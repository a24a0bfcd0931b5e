// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestRefreshSettledCostsNothing(t *testing.T) {
	l := &v1alpha1.Lifecycle{PreDelete: hook([]string{"a"}), InPlaceUpdate: markNotReady(hook([]string{"a"}, "f"))}
	for name, pod := range map[string]*corev1.Pod{
		"Normal":                    newPod(normal, gate),
		"no state":                  newPod("", gate),
		"out of service by another": newPod(normal, outOfService(otherKey)),
	} {
		t.Run(name, func(t *testing.T) {
			var p podpatch.Patch
			if n := testing.AllocsPerRun(100, func() {
				lifecycle.Refresh(&p, pod, l, lifecycle.RefreshInput{AtTarget: true, InPlaceComplete: true}, now)
			}); n != 0 {
				t.Errorf("want no allocation, got %v", n)
			}
		})
	}
}
