// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestValidate shows what is said of the UnitedDeployments in testdata/validate.txt, whose lines newSet has. Of an update, the line
// "to" stands between what is stored and what comes. With the word adaptive the limits of subsets are read.
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		adaptive := len(d.CmdArgs) > 0
		lines := strings.Split(d.Input, "\n")
		var errs field.ErrorList
		if at := slices.Index(lines, "to"); at >= 0 {
			errs = validateUpdate(newSet(t, lines[at+1:]...), newSet(t, lines[:at]...), adaptive)
		} else {
			errs = validateCreate(newSet(t, lines...), adaptive)
		}
		var out strings.Builder
		for _, err := range errs {
			fmt.Fprintln(&out, err)
		}
		return out.String()
	})
}
