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
	got, err := revision.New(owner, cloneSet, demo(true), 3, nil)
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
	if owner.Annotations["note"] != "x" || demo(true).Labels["app"] != "demo" {
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

func TestNextNumber(t *testing.T) {
	for _, tt := range []struct {
		name string
		have []*appsv1.ControllerRevision
		want int64
	}{
		{"CS-CR3: the first is 1", nil, 1},
		{"CS-CR3: highest plus one, in any order", []*appsv1.ControllerRevision{numbered("a", 7, ""), numbered("b", 2, "")}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := revision.NextNumber(tt.have); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestNext(t *testing.T) {
	broken := func(name string, number int64) *appsv1.ControllerRevision {
		r := stored(name, "{")
		r.Revision = number
		return r
	}
	byMeaning := numbered("a", 1, "one")
	byMeaning.Data.Raw = []byte(strings.Replace(string(byMeaning.Data.Raw), `{"name"`, `{"resources":{},"name"`, 1))
	for _, tt := range []struct {
		name    string
		history []*appsv1.ControllerRevision
		image   string
		want    string
	}{
		{"CS-CR5: no history", nil, "one", "Create wanted 1"},
		{"CS-CR5: latest is equal", []*appsv1.ControllerRevision{numbered("b", 2, "two"), numbered("a", 1, "one")}, "two", "Use b 2"},
		{"CS-CR5: latest is equal by meaning", []*appsv1.ControllerRevision{byMeaning}, "one", "Use a 1"},
		{"CS-CR5: an older one is equal", []*appsv1.ControllerRevision{numbered("b", 2, "two"), numbered("a", 1, "one")}, "one", "Raise a 3"},
		{"CS-CR5: the newest of several equal ones", []*appsv1.ControllerRevision{numbered("a", 1, "one"), numbered("c", 2, "one"), numbered("b", 3, "two")}, "one", "Raise c 4"},
		{"CS-CR5: none is equal", []*appsv1.ControllerRevision{numbered("b", 2, "two"), numbered("a", 1, "one")}, "three", "Create wanted 3"},
		{"an unreadable one is skipped", []*appsv1.ControllerRevision{broken("bad", 1), numbered("a", 2, "one")}, "one", "Use a 2"},
		{"an unreadable latest one is skipped", []*appsv1.ControllerRevision{own(broken("bad", 2)), numbered("a", 1, "one")}, "one", "Raise a 3"},
		{"an unreadable one and none equal", []*appsv1.ControllerRevision{own(broken("bad", 1)), numbered("a", 2, "one")}, "two", "Create wanted 3"},
		{"an unreadable one that nobody controls and none equal", []*appsv1.ControllerRevision{broken("bad", 7), numbered("a", 2, "one")}, "two", "Create wanted 8"},
		{"an unreadable one of the wanted name", []*appsv1.ControllerRevision{own(broken("wanted", 1))}, "one", "Use wanted 1"},
		{"an unreadable older one of the wanted name", []*appsv1.ControllerRevision{own(broken("wanted", 1)), numbered("a", 2, "one")}, "two", "Raise wanted 3"},
		{"an unreadable one of the wanted name that nobody controls", []*appsv1.ControllerRevision{broken("wanted", 1)}, "one", "Create wanted 2"},
		{"nil ones", []*appsv1.ControllerRevision{nil, numbered("a", 1, "one"), nil}, "one", "Use a 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := names(tt.history)
			d, err := revision.Next(tt.history, numbered("wanted", revision.NextNumber(tt.history), tt.image))
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = fmt.Sprintf("%s %s %d", d.Action, d.Revision.Name, d.Revision.Revision)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if names(tt.history) != before {
				t.Error("the history was reordered")
			}
			if template, err := revision.Template(d.Revision.Data.Raw); err != nil || template.Spec.Containers[0].Image != tt.image {
				t.Errorf("the revision holds %v, error %v, want image %s", template, err, tt.image)
			}
		})
	}
	if _, err := revision.Next(nil, nil); err == nil {
		t.Error("nothing was taken as the wanted revision")
	}
	old := numbered("a", 1, "one")
	if _, err := revision.Next([]*appsv1.ControllerRevision{old, numbered("b", 2, "two")}, numbered("w", 3, "one")); err != nil || old.Revision != 1 {
		t.Errorf("CS-CR5: the stored revision was changed to number %d (%v)", old.Revision, err)
	}
	if _, err := revision.Next([]*appsv1.ControllerRevision{old}, broken("wanted", 2)); err == nil {
		t.Error("an unreadable wanted revision was taken")
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

func TestSurplus(t *testing.T) {
	history := []*appsv1.ControllerRevision{
		numbered("e", 5, ""), numbered("a", 1, ""), numbered("c", 3, ""), numbered("b", 2, ""), numbered("d", 4, ""),
	}
	for _, tt := range []struct {
		name  string
		live  string
		limit int32
		want  string
	}{
		{"CS-CR7: oldest first until the limit", "e", 2, "a b"},
		{"CS-CR7: live ones do not count", "a e", 2, "b"},
		{"CS-CR7: limit 0", "a e", 0, "b c d"},
		{"CS-CR7: a negative limit is 0", "a e", -3, "b c d"},
		{"CS-CR7: fewer than the limit", "", 10, ""},
		{"CS-CR7: exactly the limit", "", 5, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live := func(name string) bool { return strings.Contains(tt.live, name) }
			if got := names(revision.Surplus(history, live, tt.limit)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if names(history) != "e a c b d" {
		t.Error("the history was reordered")
	}
}
