// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"
)

func TestOrdinalOf(t *testing.T) {
	for _, tt := range []struct {
		pod  string
		want int
		ok   bool
	}{
		{"web-0", 0, true}, {"web-17", 17, true}, {"web-2147483647", 2147483647, true},
		{"web-2147483648", 0, false}, {"web-01", 0, false}, {"web-", 0, false}, {"web", 0, false}, {"web--1", 0, false},
		{"web-+1", 0, false}, {"web-a", 0, false}, {"web-1-2", 0, false}, {"other-1", 0, false}, {"", 0, false},
	} {
		t.Run("STS-2: "+tt.pod, func(t *testing.T) {
			got, ok := ordinalOf("web", tt.pod)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
