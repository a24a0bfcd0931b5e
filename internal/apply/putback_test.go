// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// What a webhook that shares a status adds is no contest: the same field has to come back to the value that it had. (CT-12)
func TestDifference(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC)) }
	status := func(allowed int32, disrupted map[string]metav1.Time, since int) *v1alpha1.PodUnavailableBudgetStatus {
		return &v1alpha1.PodUnavailableBudgetStatus{UnavailableAllowed: allowed, DisruptedPods: disrupted, TotalReplicas: 3,
			Conditions: []metav1.Condition{{Type: "TotalUnknown", LastTransitionTime: at(since)}}}
	}
	first, err := difference(status(0, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name          string
		before, after *v1alpha1.PodUnavailableBudgetStatus
		same          bool
	}{
		{"CT-12: all that is changed has come back", status(0, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 4), true},
		{"CT-12: another pod is evicted", status(0, map[string]metav1.Time{"web-2": at(1)}, 1), status(1, nil, 2), false},
		{"CT-12: the same pod is evicted again", status(0, map[string]metav1.Time{"web-1": at(2)}, 1), status(1, nil, 2), false},
		{"CT-12: another number is wanted", status(0, map[string]metav1.Time{"web-1": at(1)}, 1), status(2, nil, 2), false},
		{"CT-12: the number was another", status(2, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 2), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			again, err := difference(test.before, test.after)
			if err != nil || (again == first) != test.same {
				t.Errorf("%s, %v; first %s", again, err, first)
			}
		})
	}
}

func TestWanted(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"CT-12: another version, another time", `{"metadata":{"resourceVersion":"7","uid":"u"},"status":{"lastTransitionTime":"2026-01-01T12:00:00Z"}}`,
			`{"metadata":{"resourceVersion":"12","uid":"u"},"status":{"lastTransitionTime":"2026-01-01T12:03:00Z"}}`, true},
		{"CT-12: a time in an annotation", `{"a":"{\"updateTimestamp\":\"2026-01-01T12:00:00Z\"}"}`, `{"a":"{\"updateTimestamp\":\"2026-01-01T12:00:01Z\"}"}`, true},
		{"CT-12: another value", `{"spec":{"replicas":3}}`, `{"spec":{"replicas":4}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if (Wanted([]byte(test.a)) == Wanted([]byte(test.b))) != test.same {
				t.Errorf("%s, %s", Wanted([]byte(test.a)), Wanted([]byte(test.b)))
			}
		})
	}
}
