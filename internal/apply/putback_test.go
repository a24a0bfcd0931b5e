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

// What a webhook that shares a status books is no contest: it books about another pod, or at another time. Whatever else another writer puts in the place
// of a value, the same is wanted again. (CT-12)
func TestDifference(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC)) }
	status := func(allowed int32, disrupted map[string]metav1.Time, since int) *v1alpha1.PodUnavailableBudgetStatus {
		return &v1alpha1.PodUnavailableBudgetStatus{UnavailableAllowed: allowed, DisruptedPods: disrupted, TotalReplicas: 3,
			Conditions: []metav1.Condition{{Type: "TotalUnknown", LastTransitionTime: at(since)}}}
	}
	first, err := Difference(status(0, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 2), true)
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
		{"CT-12: the number was another", status(2, map[string]metav1.Time{"web-1": at(1)}, 1), status(1, nil, 2), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			again, err := Difference(test.before, test.after, true)
			if err != nil || (again == first) != test.same {
				t.Errorf("%s, %v; first %s", again, err, first)
			}
		})
	}
}

// In a status that no other writer shares, values that go do not count: another writer might put others there each time. (CT-12)
func TestDifferenceOfWhatGoes(t *testing.T) {
	condition := func(of, message string) metav1.Condition {
		return metav1.Condition{Type: of, Status: metav1.ConditionTrue, Message: message}
	}
	of := func(conditions ...metav1.Condition) *v1alpha1.PodUnavailableBudgetStatus {
		return &v1alpha1.PodUnavailableBudgetStatus{Conditions: conditions}
	}
	difference := func(before, after *v1alpha1.PodUnavailableBudgetStatus) string {
		text, err := Difference(before, after, false)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const gone = `{"conditions":{"B":{"lastTransitionTime":null,"message":null,"reason":null,"status":null,"type":null}}}{"conditions":{}}`
	for _, message := range []string{"1", "2"} {
		if got := difference(of(condition("A", ""), condition("B", message)), of(condition("A", ""))); got != gone {
			t.Errorf("a condition goes: %s", got)
		}
		if got, want := difference(of(condition("A", message)), of(condition("A", "0"))), `{}{"conditions":{"A":{"message":"0"}}}`; got != want {
			t.Errorf("a message is another one: %s", got)
		}
	}
	if got, want := difference(of(), of(condition("A", ""))), `{}{"conditions":{"A":{"lastTransitionTime":null,"message":"","reason":"","status":"True","type":"A"}}}`; got != want {
		t.Errorf("a condition comes: %s", got)
	}
}

// A note that is renewed is no contest: it has another time by then. One that is taken back has the one before. (CT-12)
func TestNoted(t *testing.T) {
	pod := func(noted string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"note": noted, "other": noted}}}
	}
	_, sent, err := noted(pod("2026-01-01T12:00:00Z"), []byte(`{"metadata":{"annotations":{"note":"2026-01-01T12:05:00Z"}}}`))
	if err != nil || sent != `[{},{"note":"2026-01-01T12:05:00Z"}]` {
		t.Fatalf("%s, %v", sent, err)
	}
	for _, test := range []struct {
		name, was string
		renewed   bool
	}{
		{"CT-12: it is taken back", "2026-01-01T12:00:00Z", false},
		{"CT-12: another value is put in its place", "never", false},
		{"CT-12: it is renewed", "2026-01-01T12:05:00Z", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, _, err := noted(pod(test.was), []byte(`{"metadata":{"annotations":{"note":"2026-01-01T12:10:00Z"}}}`))
			if err != nil || (found == sent) != test.renewed {
				t.Errorf("%s, %v; sent was %s", found, err, sent)
			}
		})
	}
	found, sent, err := noted(pod("x"), []byte(`{"metadata":{"labels":{"app":null,"new":null}}}`))
	if err != nil || found != `[{"app":"web"},{}]` || sent != "[{},{}]" {
		t.Errorf("labels that go: %s, %s, %v", found, sent, err)
	}
	if found, sent, err := noted(pod("x"), []byte(`{"status":{}}`)); err != nil || found+sent != "" {
		t.Errorf("no note: %s, %s, %v", found, sent, err)
	}
	if _, _, err := noted(pod(""), []byte("no patch")); err == nil {
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

// What an annotation keeps of what was found is not wanted: another writer may put another value there each time. (CT-12)
func TestWantedOfPod(t *testing.T) {
	w := &Writer{Keeps: []string{"found"}}
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"CT-12: the record of an update", `{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{\"images\":[\"a:1\"]}"}}}`,
			`{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{\"images\":[\"a:2\"]}"}}}`, true},
		{"CT-12: text behind the record that differs", `{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{\"a\":\"\\\\\"}","b":"1"}}}`,
			`{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"","b":"2"}}}`, false},
		{"CT-12: the key of the record within another annotation", `{"metadata":{"annotations":{"wanted":"{\"found\":\"1\"}"}}}`,
			`{"metadata":{"annotations":{"wanted":"{\"found\":\"2\"}"}}}`, false},
		{"CT-12: what a kind keeps of two", `{"metadata":{"annotations":{"found/a":"1","found/b":"2"}}}`, `{"metadata":{"annotations":{"found/a":"3","found/b":"4"}}}`, true},
		{"CT-12: what a kind keeps", `{"metadata":{"annotations":{"found":"1"}}}`, `{"metadata":{"annotations":{"found":"2"}}}`, true},
		{"CT-12: it goes", `{"metadata":{"annotations":{"found":"1"}}}`, `{"metadata":{"annotations":{"found":null}}}`, false},
		{"CT-12: another annotation", `{"metadata":{"annotations":{"wanted":"1"}}}`, `{"metadata":{"annotations":{"wanted":"2"}}}`, false},
		{"CT-12: another version of the pod", `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"2"}}`, true},
	} {
		if a, b := w.wantedOfPod([]byte(test.a)), w.wantedOfPod([]byte(test.b)); (a == b) != test.same {
			t.Errorf("%s: %s, %s", test.name, a, b)
		}
	}
}
