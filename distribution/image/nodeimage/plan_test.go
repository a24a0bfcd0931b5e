// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"reflect"
	"testing"
)

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
