// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
)

// A reconcile asks for every pod that might be updated.
func TestFeasibleDoesNotAllocate(t *testing.T) {
	updated := begin(t, running(template()), calculate(t, template(), template("c1=c1:2")), 0)
	kubelet(updated)
	updated, _ = refresh(t, updated, after(10))
	u := calculate(t, template(), template("c2=c2:2", "label=k:w"))
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
