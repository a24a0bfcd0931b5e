// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"fmt"

	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func ExampleDefault() {
	set := &v1beta1.StatefulSet{}
	statefulset.Default(set, nil, statefulset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.PodManagementPolicy, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	// Output: 1 OrderedReady 1 Retain
}
