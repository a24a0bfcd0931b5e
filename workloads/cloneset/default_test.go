// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CS-V1: templates get the defaults of the API server.
func TestDefaultOfTemplate(t *testing.T) {
	conformance.CheckTemplateDefaults(t, func(set, old *v1alpha1.CloneSet, off bool) {
		cloneset.Default(set, old, cloneset.DefaultOptions{TemplateNoDefaults: off})
	})
}

func ExampleDefault() {
	set := &v1alpha1.CloneSet{}
	set.Spec.UpdateStrategy.Type = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	cloneset.Default(set, nil, cloneset.DefaultOptions{})
	fmt.Println(*set.Spec.Replicas, set.Spec.UpdateStrategy.MaxUnavailable, set.Spec.Template.Spec.RestartPolicy)
	// Output: 1 20% Always
}
