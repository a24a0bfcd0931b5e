// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	first, err := Difference(status(0, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 2))
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
			again, err := Difference(test.before, test.after)
			if err != nil || (again == first) != test.same {
				t.Errorf("%s, %v; first %s", again, err, first)
			}
		})
	}
}

// A note that is renewed is no contest: it has another time by then. One that is taken back has the one before. (CT-12)
func TestNoted(t *testing.T) {
	pod := func(noted string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": noted, "other": noted}}}
	}
	first, err := noted(pod("2026-01-01T12:00:00Z"), []byte(`{"metadata":{"annotations":{"note":"2026-01-01T12:05:00Z"}}}`))
	if err != nil || first != `{"metadata":{"annotations":{"note":"2026-01-01T12:00:00Z"},"labels":{}}}` {
		t.Fatalf("%s, %v", first, err)
	}
	for _, test := range []struct {
		name, was string
		same      bool
	}{
		{"CT-12: it is taken back", "2026-01-01T12:00:00Z", true},
		{"CT-12: it is renewed", "2026-01-01T12:05:00Z", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			again, err := noted(pod(test.was), []byte(`{"metadata":{"annotations":{"note":"2026-01-01T12:10:00Z"}}}`))
			if err != nil || (again == first) != test.same {
				t.Errorf("%s, %v; first %s", again, err, first)
			}
		})
	}
	if _, err := noted(pod(""), []byte("no patch")); err == nil {
		t.Error("what is no patch changes nothing")
	}
}

func TestWanted(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"CT-12: another version, another time", `{"metadata":{"uid":"u","resourceVersion":"7"},"status":{"lastTransitionTime":"2026-01-01T12:00:00Z"}}`,
			`{"metadata":{"uid":"u","resourceVersion":"12"},"status":{"lastTransitionTime":"2026-01-01T12:03:00Z"}}`, true},
		{"CT-12: a time in an annotation", `{"a":"{\"updateTimestamp\":\"2026-01-01T12:00:00Z\"}"}`, `{"a":"{\"updateTimestamp\":\"2026-01-01T12:00:01Z\"}"}`, true},
		{"CT-12: a hot upgrade by the next version of the SidecarSet", `{"a":{"version.sidecarset.kruise.io/log-1":"7","versionalt.sidecarset.kruise.io/log-2":"0"}}`,
			`{"a":{"version.sidecarset.kruise.io/log-1":"9","versionalt.sidecarset.kruise.io/log-2":"0"}}`, true},
		{"CT-12: another value", `{"spec":{"replicas":3}}`, `{"spec":{"replicas":4}}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if (Wanted([]byte(test.a)) == Wanted([]byte(test.b))) != test.same || !json.Valid([]byte(Wanted([]byte(test.a)))) {
				t.Errorf("%s, %s", Wanted([]byte(test.a)), Wanted([]byte(test.b)))
			}
		})
	}
}

// What an object has already was not taken back, whatever a patch says of it again.
func TestChanged(t *testing.T) {
	const object = `{"metadata":{"uid":"1","labels":{"a":"1","b":"2"}},"spec":{"replicas":5,"strategy":{"partition":0}}}`
	for _, test := range []struct{ name, patch, want string }{
		{"a number beside one that stands", `{"metadata":{"uid":"1"},"spec":{"replicas":8,"strategy":{"partition":0}}}`, `{"spec":{"replicas":8}}`},
		{"a label that is taken away, and one that is not there", `{"metadata":{"labels":{"a":null,"c":null}}}`, `{"metadata":{"labels":{"a":null}}}`},
		{"a new map", `{"spec":{"paused":{"by":"x"}}}`, `{"spec":{"paused":{"by":"x"}}}`},
		{"a map in the place of a number", `{"spec":{"replicas":{"a":1}}}`, `{"spec":{"replicas":{"a":1}}}`},
		{"nothing", `{"spec":{"replicas":5}}`, `{}`},
	} {
		if got, err := Changed([]byte(object), []byte(test.patch)); got != test.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
		}
	}
	if _, err := Changed([]byte(object), []byte("{")); err == nil {
		t.Error("a patch that is none: no error")
	}
}
