// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"regexp"
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
