// SPDX-License-Identifier: Apache-2.0

package image

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
