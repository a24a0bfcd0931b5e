// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"reflect"
	"testing"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	pending    = v1alpha1.ContainerRecreateRequestPending
	recreating = v1alpha1.ContainerRecreateRequestRecreating
)

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*recreate.Snapshot{nil, {}} {
		if plan := recreate.NewPlan(s); !reflect.DeepEqual(plan, &recreate.Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
