// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"testing"
)

// Which events concern a ResourceDistribution. (RD-13)
func TestConcern(t *testing.T) {
	one, two, leaving := namespaces("ns-1:one")[0], namespaces("ns-1:two")[0], terminating(namespaces("ns-1:one"))[0]
	targets, err := parseTargets(&newDistribution(t, secretYAML, "namespaceLabelSelector: {matchLabels: {group: one}}").Spec.Targets)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ got, want bool }{
		"it appears":                {targets.concern(nil, one), true},
		"it goes":                   {targets.concern(one, nil), true},
		"another one appears":       {targets.concern(nil, two), false},
		"it begins to match":        {targets.concern(two, one), true},
		"it does not match anymore": {targets.concern(one, two), true},
		"it stays":                  {targets.concern(one, one), false},
		"it begins to terminate":    {targets.concern(one, leaving), true},
	} {
		if test.got != test.want {
			t.Errorf("%s: %t, want %t", name, test.got, test.want)
		}
	}
}
