// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// The hash is what OpenKruise 1.7 and later write, so that a cluster can be taken over and handed back. (CS-44)
func TestClaimTemplateHash(t *testing.T) {
	const pvc = `{"metadata":{"name":"pvc-1"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"limits":{"storage":"2Gi"},"requests":{"storage":"1Gi"}}}}`
	const labelled = `{"metadata":{"name":"pvc-1","labels":{"a":"b"}},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"limits":{"storage":"2Gi"},"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound"}}`
	const other = `{"metadata":{"name":"a"},"spec":{"storageClassName":"fast"}}`
	hash := func(text string) string {
		var templates []corev1.PersistentVolumeClaim
		if err := json.Unmarshal([]byte(text), &templates); err != nil {
			t.Fatal(err)
		}
		return claimTemplateHash(templates)
	}
	for _, tt := range []struct{ name, templates, want string }{
		{"the example of CS-44", `[` + pvc + `]`, "1129974074"},
		{"nothing but name and spec counts", `[` + labelled + `]`, "1129974074"},
		{"no templates", `null`, ""},
		{"an empty list", `[]`, ""},
		{"the order does not matter", `[` + pvc + `,` + other + `]`, hash(`[` + other + `,` + pvc + `]`)},
	} {
		if got := hash(tt.templates); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if hash(`[`+other+`]`) == hash(`[`+pvc+`]`) {
		t.Error("other templates have the same hash")
	}
}
