// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (CRR-3.2)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.ContainerRecreateRequest]{
		Valid: `
metadata: {namespace: shop, name: once}
spec: {podName: web-0, containers: [{name: main}]}`,
		Create: func(request *v1alpha1.ContainerRecreateRequest) field.ErrorList {
			return append(recreate.ValidateCreate(request), recreate.ValidatePod(request, runningPod())...)
		},
		Update: recreate.ValidateUpdate, Immutable: true,
	})
}
