// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace"
)

// An annotation of both revisions may stand for what no pod takes in place. (IP-42)
func TestSameAnnotation(t *testing.T) {
	const key = "example.com/claims"
	for _, tt := range []struct {
		name     string
		from, to map[string]string
		option   string
		inPlace  bool
	}{
		{"IP-42: the values differ", map[string]string{key: "1"}, map[string]string{key: "2"}, key, false},
		{"IP-42: one is empty", map[string]string{key: ""}, map[string]string{key: "2"}, key, false},
		{"IP-42: the same value", map[string]string{key: "1"}, map[string]string{key: "1"}, key, true},
		{"IP-42: the old one lacks it", nil, map[string]string{key: "2"}, key, true},
		{"IP-42: the new one lacks it", map[string]string{key: "1"}, nil, key, true},
		{"IP-42: not asked for", map[string]string{key: "1"}, map[string]string{key: "2"}, "", true},
	} {
		from, to := rev(t, "web-1", template()), rev(t, "web-2", template(image(0, "c1:2")))
		from.Annotations, to.Annotations = tt.from, tt.to
		update, obstacles, err := inplace.Calculate(from, to, inplace.CalculateOptions{SameAnnotation: tt.option})
		if err != nil || (update != nil) != tt.inPlace {
			t.Errorf("%s: update %v, obstacles %v, error %v", tt.name, update, obstacles, err)
		}
		if !tt.inPlace && (len(obstacles) != 1 || !strings.Contains(obstacles[0].String(), key)) {
			t.Errorf("%s: obstacles %v, want one that names %s", tt.name, obstacles, key)
		}
	}
}
