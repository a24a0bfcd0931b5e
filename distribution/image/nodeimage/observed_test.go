// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"testing"
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// IMG-2.6: the generation is what the agent has seen. A manager that fails a task of a silent agent leaves it unchanged.
// If pods pull, there is no agent.
func TestObservedGeneration(t *testing.T) {
	pulled := func() *v1alpha1.NodeImage {
		n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("a")...)}, finished("1", succeeded, time.Second))
		n.Status.Desired, n.Status.Succeeded = 1, 1
		return n
	}
	silent := func() *v1alpha1.NodeImage {
		return with(t, []v1alpha1.ImageTagSpec{aged(time.Hour, 600, 3, nil)})
	}
	for _, test := range []struct {
		name string
		of   func() *v1alpha1.NodeImage
		pods bool
		seen int64
		want int64 // 0: nothing is written
	}{
		{"an agent: another generation is its own to report", pulled, false, 2, 0},
		{"an agent that is silent has not seen it", silent, false, 2, 2},
		{"pods: the generation stands", pulled, true, 3, 0},
		{"pods: another generation", pulled, true, 2, 3},
		{"pods: a status that has none", pulled, true, 0, 0},
		{"pods: a task begins", silent, true, 0, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := test.of()
			n.Generation, n.Status.ObservedGeneration = 3, test.seen
			s := snapshot(n, job("a"))
			if test.pods {
				s.PullPods = &PullPods{}
			}
			var got int64
			if plan := NewPlan(s); plan.Status != nil {
				got = plan.Status.ObservedGeneration
			}
			if got != test.want {
				t.Errorf("observedGeneration %d, want %d", got, test.want)
			}
		})
	}
}
