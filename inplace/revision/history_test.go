// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace/revision"
)

var cloneSet = schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}

func TestNew(t *testing.T) {
	owner := &metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "u1", Annotations: map[string]string{"note": "x"}}
	got, err := revision.New(owner, cloneSet, demo(t), 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   "default",
			Name:        "demo-75d46fb977",
			Labels:      map[string]string{"app": "demo", "controller.kubernetes.io/hash": "75d46fb977"},
			Annotations: map[string]string{"note": "x"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "demo", UID: "u1",
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Revision: 3,
	}
	want.Data.Raw = golden(t, "demo-defaults.json")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CS-CR3: -want +got:\n%s", diff)
	}

	got.Annotations["note"], got.Labels["app"] = "y", "y"
	if owner.Annotations["note"] != "x" || demo(t).Labels["app"] != "demo" {
		t.Error("CS-CR3: labels and annotations are not copies")
	}
	if _, err := revision.New(owner, cloneSet, nil, 1, nil); err == nil || !strings.Contains(err.Error(), "CloneSet default/demo") {
		t.Errorf("the error of a nil template does not name the workload: %v", err)
	}
	bare, err := revision.New(&metav1.ObjectMeta{Name: "x"}, cloneSet, &corev1.PodTemplateSpec{}, 1, new(int32(2)))
	if err != nil {
		t.Fatal(err)
	}
	if len(bare.Labels) != 1 || bare.Annotations != nil {
		t.Errorf("CS-CR3: nothing to copy gives labels %v, annotations %v", bare.Labels, bare.Annotations)
	}
}

func numbered(name string, number int64, image string) *appsv1.ControllerRevision {
	r := stored(name, container(fmt.Sprintf("%q:%q", "image", image)))
	if image == "broken" {
		r.Data.Raw = []byte("{")
	}
	r.Revision = number
	return r
}

// own gives a revision a controller.
func own(r *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	r.OwnerReferences = []metav1.OwnerReference{{UID: "u1", Controller: new(true)}}
	return r
}

func names(revisions []*appsv1.ControllerRevision) string {
	var out []string
	for _, r := range revisions {
		if r == nil {
			out = append(out, "nil")
			continue
		}
		out = append(out, r.Name)
	}
	return strings.Join(out, " ")
}

func TestSort(t *testing.T) {
	old, young := numbered("z-old", 2, ""), numbered("a-young", 2, "")
	old.CreationTimestamp = metav1.NewTime(time.Unix(100, 0))
	young.CreationTimestamp = metav1.NewTime(time.Unix(200, 0))
	twin := old.DeepCopy()
	twin.Name = "y-old"
	revisions := []*appsv1.ControllerRevision{numbered("last", 3, ""), young, old, twin, numbered("first", 1, "")}
	revision.Sort(revisions)
	if got, want := names(revisions), "first y-old z-old a-young last"; got != want {
		t.Errorf("CS-CR4: by number, creation time, name: got %s, want %s", got, want)
	}
}

// Next for revisions of anything. (CS-CR5)
func TestNextOf(t *testing.T) {
	of := func(name, data string, number int64) *appsv1.ControllerRevision {
		r := stored(name, data)
		r.Revision = number
		return r
	}
	history := []*appsv1.ControllerRevision{of("b", "two", 2), of("a", "one", 1)}
	for data, want := range map[string]string{"two": "Use b (2)", "one": "Raise a to 3", "three": "Create wanted (3)"} {
		d := revision.NextOf(history, of("wanted", data, 3), func(r *appsv1.ControllerRevision) bool { return string(r.Data.Raw) == data })
		if d.String() != want || history[0].Name != "b" || history[1].Revision != 1 {
			t.Errorf("%s: %s, want %s", data, d, want)
		}
	}
}
