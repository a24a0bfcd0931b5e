// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Whatever annotation is written is read again, in the short way and in the long one. (WS-4)
func TestMembers(t *testing.T) {
	ws := spreadOf(t, `subsets: [{name: a}, {name: 'say "b"'}, {name: ab}, {name: a}]`)
	m := newMembers(ws)
	for want, subset := range []string{"a", `say "b"`, "ab"} {
		for _, uid := range []string{"", "k"} {
			pod := newPod("x", "")
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = annotation(ws, subset, uid)
			if got := m.subset(pod); got != want {
				t.Errorf("subset %s with uid %q: %d, want %d", subset, uid, got, want)
			}
			matched, readable := Matched(pod)
			if diff := cmp.Diff(v1alpha1.MatchedWorkloadSpread{Name: "web", Subset: subset, UID: uid}, matched); diff != "" || !readable {
				t.Errorf("(-want +got) %s", diff)
			}
		}
	}
	for text, want := range map[string]int{`{"name":"web","subset":"z"}`: removed, `{"name":"db","subset":"a"}`: elsewhere, `{"name":"web"}`: elsewhere,
		`{"name":"web","subset":"a","x":1}`: 0, `{"subset":"ab","name":"web"}`: 2, `[]`: elsewhere} {
		pod := newPod("x", "")
		pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = text
		if got := m.subset(pod); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
