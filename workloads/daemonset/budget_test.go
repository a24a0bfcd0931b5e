// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestReplace plays testdata/replace: each row is a Rollout, and shows what of it may be replaced.
func TestReplace(t *testing.T) {
	patches.PlayRows(t, "testdata/replace", func() Rollout { return Rollout{} }, func(_ *testing.T, _ string, row *Rollout) string {
		return fmt.Sprintf("%+v", row.Replace())
	})
}

// TestZeros: other tools read the numbers of a status, and take those that are missing for unknown. (DS-17)
func TestZeros(t *testing.T) {
	data, err := json.Marshal(&v1alpha1.DaemonSetStatus{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable", "numberUnavailable"} {
		if !strings.Contains(string(data), `"`+field+`":0`) {
			t.Errorf("%s is not in %s", field, data)
		}
	}
}
