// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"testing"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the spec, with the values that never do anything or do harm, and what admission says of them. (ACJ-20)
func TestVerdicts(t *testing.T) {
	verdicts.Check(t, "testdata/verdicts.txt", verdicts.Subject[v1alpha1.AdvancedCronJob]{
		Valid: `
metadata: {namespace: shop, name: backup}
spec:
  schedule: "0 10 * * *"
  template: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: backup}]}}}}}`,
		Create: cronjob.ValidateCreate, Update: cronjob.ValidateUpdate, Touch: `{"paused":true}`,
	})
}

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (ACJ-14)
func TestAdmission(t *testing.T) {
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: "AdvancedCronJob", Resource: "advancedcronjobs",
		Object: "{metadata: {namespace: shop, name: web}, spec: {schedule: '@daily', " + jobTemplate + "}}",
		New:    func(map[string][]string) conformance.Served { return &cronjob.Webhook{} }})
}
