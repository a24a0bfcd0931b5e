// SPDX-License-Identifier: Apache-2.0

package broadcastjob_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (BJ-V8)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.BroadcastJob]{
		Valid: `
metadata: {namespace: shop, name: prune}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: prune}]}}`,
		Create: broadcastjob.ValidateCreate, Update: broadcastjob.ValidateUpdate, Touch: `{"paused":true}`,
	})
}
