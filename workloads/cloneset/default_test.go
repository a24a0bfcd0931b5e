// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"fmt"

	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func ExampleDefault() {
	set := &v1alpha1.CloneSet{}
	set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	cloneset.Default(set, nil, cloneset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.UpdateStrategy.MaxUnavailable, set.Spec.Template.Spec.RestartPolicy)
	// Output: 1 20% Always
}
