// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/cronjob"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (ACJ-14)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "AdvancedCronJob", Resource: "advancedcronjobs",
		Object: "{metadata: {namespace: shop, name: web}, spec: {schedule: '@daily', " + jobTemplate + "}}",
		New:    func(map[string][]string) conformance.Served { return &cronjob.Webhook{} }})
}
