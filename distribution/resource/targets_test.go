// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"testing"
)

// Which namespaces get a copy. (RD-1 to RD-3)
func TestTargets(t *testing.T) {
	const group = "namespaceLabelSelector: {matchLabels: {group: one}}"
	for _, test := range []struct{ name, targets, want string }{
		{"nothing", "{}", "[]"},
		{"RD-1: an empty selector", "namespaceLabelSelector: {}", "[]"},
		{"RD-1: by label, but kube-public", group, "[ns-1 ns-2 ns-4]"},
		{"RD-1: all but the namespaces of the system", "allNamespaces: true", "[ns-1 ns-2 ns-3 ns-4 ns-5]"},
		{"RD-1: those of the system by name", "allNamespaces: true\nincludedNamespaces: {list: [{name: kube-system}]}", "[kube-system ns-1 ns-2 ns-3 ns-4 ns-5]"},
		{"RD-2: but some", "allNamespaces: true\nexcludedNamespaces: {list: [{name: ns-4}, {name: ns-9}]}", "[ns-1 ns-2 ns-3 ns-5]"},
		{"RD-2: by name and label, but some", group + "\nincludedNamespaces: {list: [{name: ns-1}, {name: ns-3}, {name: ns-5}]}\nexcludedNamespaces: {list: [{name: ns-4}]}", "[ns-1 ns-2 ns-3 ns-5]"},
		{"RD-3: one that does not exist", "includedNamespaces: {list: [{name: ns-9}, {name: ns-9}, {name: ns-3}, {name: ''}]}", "[ns-3 ns-9]"},
		{"RD-3: one that does not exist, beside all", "allNamespaces: true\nincludedNamespaces: {list: [{name: ns-9}]}", "[ns-1 ns-2 ns-3 ns-4 ns-5]"},
	} {
		existing := namespaces("ns-5", "ns-1:one", "ns-2:one", "ns-3", "ns-4:one", "kube-system", "kube-public:one")
		targets, err := parseTargets(&newDistribution(t, secretYAML, test.targets).Spec.Targets)
		if err != nil {
			t.Fatal(err)
		}
		matched, others := targets.namespaces(existing)
		if got := fmt.Sprint(matched); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		there := 0
		for _, namespace := range existing {
			if targets.match(namespace.Name, namespace.Labels) {
				there++
			}
		}
		if there+len(others) != len(existing) {
			t.Errorf("%s: %d match and %v are others, of %d", test.name, there, others, len(existing))
		}
	}
	if _, err := parseTargets(&newDistribution(t, secretYAML, "namespaceLabelSelector: {matchExpressions: [{key: a, operator: Like}]}").Spec.Targets); err == nil {
		t.Error("RD-11: a selector that cannot be read is taken")
	}
}

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
