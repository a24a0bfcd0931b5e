// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func TestChangePatch(t *testing.T) {
	n := with(t, []v1alpha1.ImageTagSpec{task("1", owners("a")...)})
	n.Labels["foreign"] = "x"
	plan := NewPlan(snapshot(n))
	data, err := plan.Change.Patch(n)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"metadata":{"labels":{"foreign":null},"uid":"n1-uid","resourceVersion":"3"},"spec":{"images":null}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels and tasks are one patch (-want +got):\n%s", diff)
	}
}

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
