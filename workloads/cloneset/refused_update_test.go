// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// The API server refused the update of a pod, and other pods were updated before it. Now the partition keeps it at its revision:
// nothing is wrong any more. (CS-34)
func TestRefusedPodStays(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "type=InPlaceIfPossible")
	w.settle()
	w.Spec("image=nginx:2", "partition=1", "maxUnavailable=100%")
	w.settle()
	s := w.snapshot()
	for _, pod := range s.Pods {
		if pod.Spec.Containers[0].Image == "nginx:1" {
			s.Refused = rollout.Refusals{Until: w.Now.Add(-time.Second), Err: errors.New("refused"), Pods: map[types.UID]error{pod.UID: errors.New("refused")}}
		}
	}
	if plan := NewPlan(s); len(plan.Problems) > 0 {
		t.Errorf("problems %v", plan.Problems)
	}
	s.Set.Spec.UpdateStrategy.Partition = nil
	if plan := NewPlan(s); len(plan.Problems) != 1 {
		t.Errorf("without a partition: problems %v, want the refusal", plan.Problems)
	}
}
