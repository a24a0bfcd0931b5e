// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-34: a stored weight that cannot be used is told, with its field and its value, until it is mended.
func TestHeldUp(t *testing.T) {
	state := newState(prefers(1, zone), prefers(0, host))
	for range 2 {
		record := podstate.Compute(podstate.Input{State: state, Workload: newWorkload(3), Nodes: newNodes("a1"), Now: start})
		c := meta.FindStatusCondition(record.Status.Conditions, v1alpha1.PersistentPodStateHeldUp)
		if want := "spec.preferredPersistentTopology[1].weight is 0: the preference is left out, a weight is from 1 to 100"; c == nil || c.Reason != v1alpha1.BadValueReason || c.Message != want || c.Status != "True" {
			t.Fatalf("condition %+v, want %s", c, want)
		}
		state.Status = record.Status
	}
	state.Spec.PreferredPersistentTopology[1].Weight = 1
	record := podstate.Compute(podstate.Input{State: state, Workload: newWorkload(3), Nodes: newNodes("a1"), Now: start})
	if c := meta.FindStatusCondition(record.Status.Conditions, v1alpha1.PersistentPodStateHeldUp); c != nil {
		t.Errorf("condition %+v, though all can be used", c)
	}
}
