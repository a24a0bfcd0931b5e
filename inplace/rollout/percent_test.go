// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func FuzzPartition(f *testing.F) {
	for _, s := range []string{"50%", "100%", "12.5%", "50", "NaN%", "1e300%", "-0%", "0x1p3%", ""} {
		f.Add(s, int32(8))
	}
	f.Fuzz(func(t *testing.T, s string, replicas int32) {
		partition := intstr.FromString(s)
		got, err := Partition(&partition, replicas)
		if got < 0 || got > max(replicas, 0) {
			t.Errorf("Partition(%q, %d) = %d, beyond 0 and replicas", s, replicas, got)
		}
		if err == nil && !strings.HasSuffix(s, "%") {
			t.Errorf("Partition(%q) is no error without a percent sign", s)
		}
		if err == nil && s != "100%" && replicas > 1 && got == replicas {
			if percent, _ := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64); percent <= 100 {
				t.Errorf("Partition(%q, %d) leaves none to update", s, replicas)
			}
		}
	})
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"50%", "100%", "12.5%", "50", "-3%", "99999999999%", "+7%", ""} {
		f.Add(s, int32(8))
	}
	f.Fuzz(func(t *testing.T, s string, replicas int32) {
		v := intstr.FromString(s)
		up, errUp := Count("maxSurge", v, replicas, RoundUp)
		down, errDown := Count("maxSurge", v, replicas, RoundDown)
		if (errUp == nil) != (errDown == nil) {
			t.Errorf("Count(%q): rounding decides about the error: %v, %v", s, errUp, errDown)
		}
		if down < 0 || up < down || up-down > 1 {
			t.Errorf("Count(%q, %d) = %d rounded up, %d rounded down", s, replicas, up, down)
		}
	})
}
