// SPDX-License-Identifier: Apache-2.0

package image

import (
	"strings"
	"testing"
)

func TestMatchesRegistry(t *testing.T) {
	for _, test := range []struct {
		registry, image string
		want            bool
	}{
		{"quay.io", "quay.io/web:1", true}, {"quay.io/team", "quay.io/team/web@" + digest, true}, {"quay.io", "nginx", false},
		{"docker.io", "nginx", true}, {"*.io", "quay.io/web", true}, {"quay.io", "UPPER", false}, {"", "my_registry.local/web", false},
	} {
		if got := MatchesRegistry(test.registry, test.image); got != test.want {
			t.Errorf("%s is from %s: %t", test.image, test.registry, got)
		}
	}
}

func TestFilterIsValidated(t *testing.T) {
	for _, filter := range []Filter{{Namespaces: []string{""}}, {Namespaces: []string{"["}}, {Registries: []string{""}}, {Registries: []string{"[.io"}}} {
		if err := filter.Validate(); err == nil || !strings.Contains(err.Error(), "Filter.") {
			t.Errorf("%+v: error %v", filter, err)
		}
	}
}
