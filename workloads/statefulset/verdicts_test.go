// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (STS-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1beta1.StatefulSet]{
		Valid: `
metadata: {namespace: shop, name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {readinessGates: [{conditionType: InPlaceUpdateReady}], containers: [{name: main, image: postgres}]}}`,
		Create: statefulset.ValidateCreate, Update: statefulset.ValidateUpdate, Touch: `{"replicas":7}`,
	})
}

// The API server takes no pod whose name is no label and no name of a host. (STS-V8)
func TestNamesOfPods(t *testing.T) {
	for name, right := range map[string]bool{"": true, "db": true, strings.Repeat("a", 61): true, strings.Repeat("a", 62): false, "my.db": false, "my_db": false} {
		set := validation.Demo(t)
		set.Name = name
		errs := statefulset.ValidateCreate(set)
		if (len(errs) == 0) != right || !right && (errs[0].Field != "metadata.name" || errs[0].BadValue != name) {
			t.Errorf("%q: %v", name, errs)
		}
		if errs := statefulset.ValidateUpdate(set, validation.Demo(t, "replicas", `7`)); len(errs) > 0 {
			t.Errorf("%q, which is stored: %v", name, errs)
		}
	}
}
