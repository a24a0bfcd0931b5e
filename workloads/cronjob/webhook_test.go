// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// TestValidate shows what is said of the cron jobs in testdata/validate.txt, whose lines newCronJob has. Of an update, the line "to" stands between
// what is stored and what comes. (ACJ-14)
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		name := "web"
		for _, arg := range d.CmdArgs {
			name = strings.Join(arg.Vals, "")
		}
		var out strings.Builder
		show := func(errs field.ErrorList) {
			for _, err := range errs {
				fmt.Fprintln(&out, err)
			}
		}
		if stored, changed, is := strings.Cut(d.Input, "\nto\n"); is {
			show(cronjob.ValidateUpdate(newCronJob(t, name, changed), newCronJob(t, name, stored)))
		} else {
			show(cronjob.ValidateCreate(newCronJob(t, name, d.Input)))
		}
		return out.String()
	})
}
