// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
)

func value(v any) *intstr.IntOrString {
	switch v := v.(type) {
	case int:
		i := intstr.FromInt32(int32(v))
		return &i
	case string:
		s := intstr.FromString(v)
		return &s
	}
	return nil
}

func TestPartition(t *testing.T) {
	for _, tt := range []struct {
		name      string
		replicas  int32
		partition any
		want      int32
	}{
		{"CS-5: percent rounds up, one is left to update", 8, "90%", 7},
		{"CS-5: exactly 100% holds all", 8, "100%", 8},
		{"CS-5: 100.0% is not exactly 100%", 8, "100.0%", 7},
		{"CS-5: more than 100%", 8, "150%", 8},
		{"CS-5: a small fraction is a pod", 8, "0.1%", 1},
		{"CS-5: the only replica", 1, "50%", 1},
		{"CS-5: 99% of two", 2, "99%", 1},
		{"CS-5: fraction of a percent", 100, "12.5%", 13},
		{"CS-5: fraction of a percent of many", 1000, "99.95%", 999},
		{"CS-5: number above replicas", 8, 9, 8},
		{"CS-5: number equal to replicas", 8, 8, 8},
		{"CS-5: number below 0", 8, -1, 0},
		{"CS-5: percent below 0", 8, "-50%", 0},
		{"CS-5: 0%", 8, "0%", 0},
		{"CS-5: huge percent", 8, "1e300%", 8},
		{"CS-5: no replicas", 0, "50%", 0},
		{"CS-5: negative replicas", -3, 2, 0},
		{"CS-5: nil", 8, nil, 0},
		{"example m: 99% of five", 5, "99%", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Partition(value(tt.partition), tt.replicas)
			if err != nil || got != tt.want {
				t.Errorf("Partition(%v, %d) = %d, %v; want %d", tt.partition, tt.replicas, got, err, tt.want)
			}
		})
	}
}

func TestPartitionErrors(t *testing.T) {
	for _, tt := range []struct{ name, partition string }{
		{"CS-E17: no percent sign", "50"},
		{"CS-5: empty", ""},
		{"CS-5: only the sign", "%"},
		{"CS-5: no number", "half%"},
		{"CS-5: two signs", "50%%"},
		{"CS-5: not a number", "NaN%"},
		{"CS-5: infinite", "Inf%"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Partition(value(tt.partition), 8)
			if err == nil {
				t.Fatalf("Partition(%q) = %d, want an error", tt.partition, got)
			}
			if !strings.Contains(err.Error(), "partition: found ") || !strings.Contains(err.Error(), tt.partition) {
				t.Errorf("error %q does not name the field and the value", err)
			}
		})
	}
}

func TestCounts(t *testing.T) {
	maxUnavailable := func(surge int32) func(*intstr.IntOrString, int32) (int32, error) {
		return func(v *intstr.IntOrString, replicas int32) (int32, error) { return MaxUnavailable(v, replicas, surge) }
	}
	for _, tt := range []struct {
		name     string
		count    func(*intstr.IntOrString, int32) (int32, error)
		value    any
		replicas int32
		want     int32
	}{
		{"CS-6: maxSurge percent rounds up", MaxSurge, "30%", 5, 2},
		{"CS-6: maxSurge number", MaxSurge, 3, 5, 3},
		{"CS-6: maxSurge nil", MaxSurge, nil, 5, 0},
		{"CS-6: maxSurge below 0 is 0", MaxSurge, -2, 5, 0},
		{"CS-6: maxUnavailable rounds up without surge", maxUnavailable(0), "30%", 5, 2},
		{"CS-6: maxUnavailable rounds down with surge", maxUnavailable(2), "30%", 5, 1},
		{"CS-6: maxUnavailable nil is 20% up", maxUnavailable(0), nil, 6, 2},
		{"CS-6: maxUnavailable nil is 20% down with surge", maxUnavailable(1), nil, 6, 1},
		{"CS-6: maxUnavailable number above replicas stays", maxUnavailable(0), 9, 5, 9},
		{"CS-6: maxUnavailable huge percent", maxUnavailable(0), "9999999999%", 5, 500000000},
		{"CS-6: maxUnavailable below 0 is 0", maxUnavailable(0), "-30%", 5, 0},
		{"CS-E17: maxUnavailable without percent sign", maxUnavailable(0), "30", 5, 2},
		{"CS-6: scale maxUnavailable rounds up", ScaleMaxUnavailable, "10%", 11, 2},
		{"CS-6: scale maxUnavailable nil is no limit", ScaleMaxUnavailable, nil, 5, math.MaxInt32},
		{"CS-6: scale maxUnavailable 0", ScaleMaxUnavailable, 0, 5, 0},
		{"CS-6: exact percent does not round", MaxSurge, "7%", 100, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.count(value(tt.value), tt.replicas)
			if err != nil || got != tt.want {
				t.Errorf("got %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestCountErrors(t *testing.T) {
	for _, tt := range []struct{ name, value string }{
		{"CS-6: fraction of a percent", "12.5%"},
		{"CS-6: no number", "half"},
		{"CS-6: empty", ""},
		{"CS-6: beyond 64 bits", "99999999999999999999%"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := MaxUnavailable(value(tt.value), 8, 0)
			if err == nil {
				t.Fatalf("MaxUnavailable(%q) = %d, want an error", tt.value, got)
			}
			if !strings.Contains(err.Error(), "maxUnavailable: found ") || !strings.Contains(err.Error(), tt.value) {
				t.Errorf("error %q does not name the field and the value", err)
			}
		})
	}
}

func FuzzPartition(f *testing.F) {
	for _, s := range []string{"50%", "100%", "12.5%", "50", "NaN%", "1e300%", "-0%", "0x1p3%", ""} {
		f.Add(s, int32(8))
	}
	f.Fuzz(func(t *testing.T, s string, replicas int32) {
		got, err := Partition(value(s), replicas)
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
