// SPDX-License-Identifier: Apache-2.0

package simulation

import "testing"

// Regression is a history in which a bug was found that is mended now.
type Regression struct {
	// Found says what was wrong.
	Found    string
	Seed     uint64
	Workload *Subject
}

// Replay plays histories in which bugs were found.
func Replay(t *testing.T, regressions []Regression) {
	t.Helper()
	for _, r := range regressions {
		t.Run(r.Found, func(t *testing.T) {
			t.Parallel()
			check(t, r.Workload, run(t, r.Workload, r.Seed, Steps))
		})
	}
}
