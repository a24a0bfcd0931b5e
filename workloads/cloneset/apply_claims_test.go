// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"
	"time"
)

// CS-24: a manager notes for two minutes which claims it reuses.
func TestNotesOfReuseEnd(t *testing.T) {
	r, begin := &reconciler{}, time.Unix(1000, 0)
	first := r.reusedBy(begin)
	for after, noted := range map[time.Duration]bool{0: true, late - 1: true, late: false, time.Hour: false} {
		if got := r.reusedBy(begin.Add(after)); (got == first) != noted || (got == "") == noted {
			t.Errorf("after %v: %q, at first %q", after, got, first)
		}
	}
}
