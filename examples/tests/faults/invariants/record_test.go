// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestRecordIsJudgedInOrder makes sure that the judge is shown in the order of versions what several watches tell, and at once
// what one list tells.
func TestRecordIsJudgedInOrder(t *testing.T) {
	pod := func(name, label string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"now": label}}}
	}
	r := NewRecord("a", "b") // strangers, whose changes are all wrong
	r.Add("9", false, Change{Old: pod("a", "8"), New: pod("a", "9")})
	r.Add("10", true, Change{Old: pod("b", "3"), New: pod("b", "10")})
	r.Add("3", false, Change{Old: pod("b", ""), New: pod("b", "3")})
	r.Add("10", true, Change{Old: pod("a", "9"), New: pod("a", "10")})
	r.Add("8", false, Change{Old: pod("a", ""), New: pod("a", "8")})
	var seen []string
	for _, line := range r.Review() {
		seen = append(seen, regexp.MustCompile(`version (\d+): ownership: stranger (.):`).FindString(line))
	}
	wanted := []string{
		"version 3: ownership: stranger b:", "version 8: ownership: stranger a:", "version 9: ownership: stranger a:",
		"version 10: ownership: stranger b:", "version 10: ownership: stranger a:",
	}
	if diff := cmp.Diff(wanted, seen); diff != "" {
		t.Errorf("what is wrong (-want +got):\n%s", diff)
	}
	if r.gaps != 1 || r.Seen() != 5 {
		t.Errorf("expected 5 changes and one gap, observed %d and %d", r.Seen(), r.gaps)
	}
}

// TestUnseenSpecs: what a controller has told a workload while its watch was broken cannot be held against its pods.
func TestUnseenSpecs(t *testing.T) {
	told := func(version string, replicas int32) metav1.Object {
		set := of("a", replicas)
		set.ResourceVersion = version
		return set
	}
	for _, test := range []struct {
		name  string
		last  Change
		gap   bool
		wrong int
	}{
		{"seen later than the pod", Change{Old: told("1", 1), New: told("9", 2)}, false, 1},
		{"not seen until the next list", Change{Old: told("1", 1), New: told("9", 2)}, true, 0},
		{"seen before the pod, and once more in a list", Change{Old: told("5", 1), New: told("9", 2)}, true, 1},
		{"the same in the next list", Change{Old: told("1", 1), New: told("9", 1)}, true, 1},
		{"gone in the next list", Change{Old: told("1", 1)}, true, 0},
	} {
		r := NewRecord()
		r.Add("1", false, Change{New: told("1", 1)})
		r.Add("2", false, Change{New: member("a", 0)})
		r.Add("4", false, Change{New: member("a", 1)})
		r.Add("9", test.gap, test.last)
		surges := 0
		for _, line := range r.Review() {
			if strings.Contains(line, "version 4: surge: ") {
				surges++
			}
		}
		if surges != test.wrong {
			t.Errorf("%s: the second pod is one too many %d times, want %d", test.name, surges, test.wrong)
		}
	}
}
