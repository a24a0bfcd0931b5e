// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
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

// claimHashes are the hashes that the revisions have, by their numbers.
func (w *setScenario) claimHashes() (hashes []string) {
	revisions := slices.SortedFunc(slices.Values(w.Revisions), func(a, b *appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	for _, r := range revisions {
		hash, found := r.Annotations[v1alpha1.CloneSetClaimTemplateHashAnnotation]
		if !found {
			hash = "none"
		}
		hashes = append(hashes, hash)
	}
	return hashes
}

// A revision has the hash of the claim templates of the time when it was made, whatever annotation the CloneSet has. Changed
// claim templates alone make no revision. A rollback has the present hash. (CS-44)
func TestClaimTemplateHashOfRevisions(t *testing.T) {
	data, logs := claimTemplateHash(scenario.ClaimTemplates("data")), claimTemplateHash(scenario.ClaimTemplates("data,logs"))
	w := newScenario(t)
	w.Spec("replicas=1", "type=InPlaceIfPossible")
	w.settle()
	if diff := cmp.Diff([]string{"none"}, w.claimHashes()); diff != "" {
		t.Fatalf("without the feature (-want +got):\n%s", diff)
	}
	w.features.ClaimTemplateHash = true
	metav1.SetMetaDataAnnotation(&w.set.ObjectMeta, v1alpha1.CloneSetClaimTemplateHashAnnotation, "7")
	for _, step := range []struct {
		name   string
		change []string
		want   []string
	}{
		{"the newest revision keeps what it has", []string{"claims=data"}, []string{"none"}},
		{"a new revision", []string{"image=nginx:2"}, []string{"none", data}},
		{"claim templates alone", []string{"claims=data,logs"}, []string{"none", data}},
		{"a rollback", []string{"image=nginx:1"}, []string{data, logs}},
		{"no claim templates", []string{"claims=", "image=nginx:3"}, []string{data, logs, ""}},
	} {
		w.Spec(step.change...)
		w.settle()
		if diff := cmp.Diff(step.want, w.claimHashes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}

// With RecreateForClaims a pod is recreated if its revision and the new one have different hashes. (CS-45)
func TestRecreateForClaims(t *testing.T) {
	for _, tt := range []struct {
		name          string
		policy        string
		hash, feature bool // while the first revision is made, and when the image changes
		claims        string
		recreated     bool
	}{
		{"CS-45: claims and image", "InPlaceIfPossible", true, true, "data,logs", true},
		{"CS-45: the image alone", "InPlaceIfPossible", true, true, "data", false},
		{"CS-45: no hash on the old revision", "InPlaceIfPossible", false, true, "data,logs", false},
		{"CS-45: not without the feature", "InPlaceIfPossible", true, false, "data,logs", false},
		{"CS-45: InPlaceOnly updates in place", "InPlaceOnly", true, true, "data,logs", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newScenario(t)
			w.features.ClaimTemplateHash = tt.hash
			w.Spec("replicas=1", "type="+tt.policy, "claims=data")
			w.settle()
			before := w.Pods[0].UID
			w.features = Features{ClaimTemplateHash: true, RecreateForClaims: tt.feature}
			w.Spec("claims=" + tt.claims)
			w.settle()
			if w.Pods[0].UID != before {
				t.Fatal("claim templates alone have the pod recreated")
			}
			w.Spec("image=nginx:2")
			w.settle()
			if got := w.Pods[0].UID != before; got != tt.recreated || len(w.Pods) != 1 || w.set.Status.UpdatedReadyReplicas != 1 {
				t.Errorf("recreated %t, want %t; status %+v", got, tt.recreated, w.set.Status)
			}
			if tt.recreated && len(w.Claims) != 2 {
				t.Errorf("CS-24: %d claims, want those of the new pod alone", len(w.Claims))
			}
		})
	}
}
