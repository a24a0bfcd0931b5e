// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestStatusPatch(t *testing.T) {
	type status struct {
		Replicas       int32             `json:"replicas"`
		Revision       string            `json:"revision,omitempty"`
		CollisionCount *int32            `json:"collisionCount,omitempty"`
		Images         map[string]string `json:"images,omitempty"`
	}
	for _, test := range []struct {
		name          string
		before, after status
		want          string
	}{
		{"all of it, whatever stands", status{3, "a", nil, nil}, status{3, "b", nil, nil}, `{"replicas":3,"revision":"b"}`},
		{"numbers that must be there, on a new object", status{}, status{}, `{"replicas":0}`},
		{"what is no longer there is removed", status{3, "a", ptr.To[int32](1), nil}, status{}, `{"collisionCount":null,"replicas":0,"revision":null}`},
		{"inside of what stays too", status{Images: map[string]string{"a": "1", "b": "2"}}, status{Images: map[string]string{"a": "3"}}, `{"images":{"a":"3","b":null},"replicas":0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := StatusPatch(Observed{UID: "u", ResourceVersion: "7"}, test.before, &test.after)
			want := `{"metadata":{"uid":"u","resourceVersion":"7"},"status":` + test.want + `}`
			if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v, patch (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, bad := range []any{func() {}, "text", json.RawMessage("{")} {
		if _, err := StatusPatch(Observed{}, bad, bad); err == nil {
			t.Errorf("no error for a status that is %T", bad)
		}
	}
}

func TestIsLate(t *testing.T) {
	for _, test := range []struct {
		observed, generation int64
		want                 bool
	}{{0, 0, false}, {0, 1, false}, {1, 1, false}, {1, 2, true}, {3, 2, true}} {
		if got := IsLate(test.observed, &metav1.ObjectMeta{Generation: test.generation}); got != test.want {
			t.Errorf("generation %d, and %d is said: late %t", test.generation, test.observed, got)
		}
	}
}
