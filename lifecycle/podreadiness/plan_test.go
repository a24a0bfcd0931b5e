// SPDX-License-Identifier: Apache-2.0

package podreadiness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var (
	now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	// words are those of testdata/words.yaml.
	words = patches.Read("testdata/words.yaml", now)
)

// gated is a pod with the gate and without the condition, created a second ago. Words change it.
func gated(changes ...string) *corev1.Pod {
	return patches.Changed(words, &corev1.Pod{}, append([]string{"gated"}, changes...)...)
}

// TestPlans shows what is done about pods, of which words of testdata/words.yaml tell.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) (out string) {
		if d.Cmd == "nothing" {
			return fmt.Sprintf("%+v %+v\n", *podreadiness.NewPlan(nil), *podreadiness.NewPlan(&podreadiness.Snapshot{}))
		}
		var changes []string
		for _, arg := range d.CmdArgs {
			changes = append(changes, arg.String())
		}
		pod := gated(changes...)
		plan := podreadiness.NewPlan(&podreadiness.Snapshot{Pod: pod, Now: now})
		if plan.Patch != nil {
			c := plan.Patch.Condition(pod, v1alpha1.KruisePodReady)
			out = fmt.Sprintf("set %s %s%s since %s\n", c.Status, c.Reason, c.Message, c.LastTransitionTime.UTC().Format(time.TimeOnly))
		}
		if plan.RequeueAfter > 0 {
			out += fmt.Sprintf("again after %s\n", plan.RequeueAfter)
		}
		return out
	})
}
