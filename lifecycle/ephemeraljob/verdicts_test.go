// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm. There is no webhook of EphemeralJobs: what is wrong
// is what the condition Error says. (EJ-21)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.EphemeralJob]{
		Valid: `
metadata: {namespace: shop, name: debug}
spec:
  selector: {matchLabels: {app: web}}
  template: {ephemeralContainers: [{name: debug, image: debug}]}`,
		Create: problems, Update: problemsLater, Unasked: true,
	})
}
