// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestDefaultOfTemplate(t *testing.T) {
	conformance.CheckTemplateDefaults(t, func(set, old *v1beta1.StatefulSet, off bool) {
		statefulset.Default(set, old, statefulset.DefaultOptions{TemplateNoDefaults: off})
	})
}

func ExampleDefault() {
	set := &v1beta1.StatefulSet{}
	statefulset.Default(set, nil, statefulset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.PodManagementPolicy, set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	// Output: 1 OrderedReady 1 Retain
}
