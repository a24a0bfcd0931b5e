// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (PPS-33)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.PersistentPodState]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  requiredPersistentTopology: {nodeTopologyKeys: [topology.kubernetes.io/zone]}`,
		Create: func(s *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateCreate(s, nil) },
		Update: func(s, old *v1alpha1.PersistentPodState) field.ErrorList { return podstate.ValidateUpdate(s, old, nil) },
		Touch:  `{"persistentPodAnnotations":[{"key":"a"}]}`, Unasked: true,
	})
}
