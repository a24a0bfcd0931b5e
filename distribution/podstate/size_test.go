// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// noted is what the API server notes of the fields of a value for their writer.
func noted(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	fields := map[string]any{".": map[string]any{}}
	for key, inner := range object {
		fields["f:"+key] = noted(inner)
	}
	return fields
}

// stored is how many bytes an object takes, with what the API server notes of the states of its pods.
func stored(t *testing.T, s *v1alpha1.PersistentPodState) int {
	t.Helper()
	var all map[string]any
	object := patches.JSON(t, s)
	if err := json.Unmarshal([]byte(object), &all); err != nil {
		t.Fatal(err)
	}
	return len(object) + len(patches.JSON(t, noted(all["status"])))
}

// size shows how many of so many pods are recorded, and in how many bytes. They are those of the lowest ordinals. What is settled
// stays, and the lowest of all takes no other's place if it comes late. (PPS-9, PPS-10)
func size(t *testing.T, r *row, s *v1alpha1.PersistentPodState) string {
	t.Helper()
	pods, nodes := manyPods(r.Count, r.Named)
	for _, pod := range pods {
		annotate(pod, "note", strings.Repeat(r.Note, 20))
	}
	s.Annotations = map[string]string{"notes": strings.Repeat("x", r.Notes)}
	in := podstate.Input{State: s, Workload: newWorkload(int32(r.Count)), Pods: pods, Nodes: nodes, Now: start}
	first, late := podstate.Compute(in), in
	late.State, late.Pods = s.DeepCopy(), pods[1:]
	late.State.Status = podstate.Compute(late).Status
	late.Pods = pods
	if r := podstate.Compute(late); len(r.Refused) > 0 && (len(r.Dropped) > 0 || r.Status.PodStates["web-0"].NodeName != "") {
		t.Errorf("PPS-10: %v are dropped for one that came later", r.Dropped)
	}
	s.Status = first.Status
	bytes, kept := stored(t, s), len(s.Status.PodStates)
	if kept > 0 && bytes > podstate.MaxSize || kept+len(first.Refused) != r.Count {
		t.Errorf("PPS-10: %d are kept, %d refused, in %d bytes", kept, len(first.Refused), bytes)
	}
	for i := range kept {
		if _, found := s.Status.PodStates[fmt.Sprint("web-", i)]; !found {
			t.Fatalf("PPS-10: web-%d is not kept, which is of the lowest ordinals", i)
		}
	}
	if again := podstate.Compute(in); !podstate.Equal(&again.Status, &s.Status) {
		t.Error("PPS-9: what is settled is another status")
	}
	large := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.StateTooLargeCondition)
	return fmt.Sprintf("%d of %d, in %d bytes: %s %s", kept, r.Count, bytes, large.Status, large.Message)
}
