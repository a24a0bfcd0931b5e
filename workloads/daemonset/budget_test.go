// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestReplace(t *testing.T) {
	for _, test := range []struct {
		name string
		of   Rollout
		want Replace
	}{
		{"DS-11: all are available", Rollout{MaxUnavailable: 2, Available: 9}, Replace{Available: 2}},
		{"DS-11: one is underway", Rollout{MaxUnavailable: 2, Underway: 1, Available: 9}, Replace{Available: 1}},
		{"DS-11: more are underway than may be", Rollout{MaxUnavailable: 2, Underway: 5, Interrupted: 1, Unavailable: 1, Available: 9}, Replace{}},
		{"DS-11: none is available", Rollout{MaxUnavailable: 10, Underway: 4, Unavailable: 196}, Replace{Unavailable: 6}},
		{"DS-11: unavailable ones count", Rollout{MaxUnavailable: 3, Unavailable: 2, Available: 9}, Replace{Unavailable: 2, Available: 1}},
		{"DS-11: interrupted ones are updated again", Rollout{MaxUnavailable: 2, Interrupted: 2, Unavailable: 3, Available: 9}, Replace{Interrupted: 2}},
		{"DS-11: not more of them than may be", Rollout{MaxUnavailable: 2, Interrupted: 9}, Replace{Interrupted: 2}},
		{"DS-11: those that never served go", Rollout{MaxUnavailable: 1, Underway: 1, Unserved: 200, Available: 9}, Replace{Unserved: 200}},
		{"DS-14: surge", Rollout{MaxSurge: 3, Underway: 1, Unserved: 2, Unavailable: 1, Available: 9}, Replace{Unserved: 2, Unavailable: 1, Available: 1}},
		{"DS-14: as many as may be", Rollout{MaxSurge: 3, Underway: 3, Unavailable: 1, Available: 9}, Replace{}},
		{"nothing", Rollout{}, Replace{}},
	} {
		if got := test.of.Replace(); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
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
