// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"testing"
	"time"
)

// Who backs off after a failure gets to try again before all is taken to be settled, unless what it fails for stays.
func TestPatience(t *testing.T) {
	held := Controller{Held: func() bool { return true }}
	for _, tt := range []struct {
		name     string
		process  Process
		policies []policy
		draining bool
		want     time.Duration
	}{
		{"nobody backs off", Process{}, nil, false, time.Minute},
		{"somebody does", Process{failures: 1}, nil, false, quietFor},
		{"somebody does who is told to wait", Process{failures: 1, controller: held}, nil, false, time.Minute},
		{"somebody does, while a policy stands", Process{failures: 1}, []policy{{}}, false, time.Minute},
		{"users have pushed", Process{}, nil, true, quietFor},
	} {
		h := &history{workload: &Subject{Patience: time.Minute}, processes: []*Process{&tt.process}, policies: tt.policies}
		tt.process.history = h
		if tt.draining {
			h.drainedBy = time.Now()
		}
		if got := h.patience(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
