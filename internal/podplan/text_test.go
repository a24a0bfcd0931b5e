// SPDX-License-Identifier: Apache-2.0

package podplan

import "testing"

func TestSameFailure(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"CT-2: a port", "read tcp 10.0.0.1:30001->10.96.0.9:443: connection reset", "read tcp 10.0.0.1:30002->10.96.0.9:443: connection reset", true},
		{"CT-2: the number of a request", "request 17 is denied", "request 9 is denied", true},
		{"CT-2: a UUID", "denied (id 8f14e45f-ceea-467a-9f3b-0242ac120002)", "denied (id 8f14e45f-ceea-467a-9f3b-0242ac120003)", true},
		{"CT-2: a trace", "denied: trace=4bf92f3577b34da6a3ce929d0e0e4736", "denied: trace=00f067aa0ba902b7a3ce929d0e0e4736", true},
		{"CT-2: a time", `denied at "2026-01-01T00:00:00Z"`, `denied at "2026-01-01T00:05:00.123Z"`, true},
		{"CT-2: a duration", "no answer within 1.5s", "no answer within 480ms", true},
		{"another pod of the workload", "delete pod web-1: denied", "delete pod web-2: denied", false},
		{"another node", "node7 is full", "node8 is full", false},
		{"another revision", "revision web-75d46fb977 is broken", "revision web-7cb569c9cc is broken", false},
		{"another failure", "exceeded quota", "denied by a webhook", false},
		{"more of them", "create a pod: denied", "create a pod: denied; create a pod: exceeded quota", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if same := sameFailure(test.a, test.b); same != test.same {
				t.Errorf("%q and %q: %v", test.a, test.b, same)
			}
		})
	}
}
