// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The revision of a spec whose bytes are known. (SCS-R1, SCS-R2)
func TestRevision(t *testing.T) {
	w := newWorld(t, `{containers: [{name: log, image: "busybox:1.0"}]}`)
	w.set.Labels = map[string]string{"team": "a", v1alpha1.SidecarSetCustomVersionLabel: "v1"}
	w.set.Annotations = map[string]string{"note": "b", v1alpha1.SidecarSetHashAnnotation: "out of date"}
	got := w.plan().Revisions.Create
	want := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kruise-system", Name: "demo-5f8bd86b65",
			Labels: map[string]string{"team": "a", v1alpha1.SidecarSetCustomVersionLabel: "v1",
				"controller.kubernetes.io/hash": "5f8bd86b65", "kruise.io/sidecarset-name": "demo"},
			Annotations: map[string]string{"note": "b",
				"kruise.io/sidecarset-hash":               "v584b24czd84bc2449cvxxvc5z44587xz782bwxz2v799cz2cfbxbw62z94fw9dv",
				"kruise.io/sidecarset-hash-without-image": "4424wfff8b57d47vb7684zc4bb5478vxwwdcz7dd2xdwbf4d4446424d4w29cwd5"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "SidecarSet", Name: "demo", UID: "uid-of-demo",
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}},
		},
		Revision: 1,
	}
	delete(w.set.Labels, v1alpha1.SidecarSetCustomVersionLabel)
	w.set.Annotations["v1beta1-fields.podwright.github.io/x"] = `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v0"}}}`
	if labels := w.plan().Revisions.Create.Labels; labels[v1alpha1.SidecarSetCustomVersionLabel] != "v0" {
		t.Errorf("SCS-V7: the revision of a SidecarSet that has the label in v1beta1 has the labels %v", labels)
	}
	data := string(got.Data.Raw)
	got = got.DeepCopy()
	got.Data.Raw = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if begin := `{"spec":{"containers":[{"image":"busybox:1.0","imagePullPolicy":"IfNotPresent","name":"log",`; !strings.HasPrefix(data, begin) ||
		!strings.HasSuffix(data, `"initContainers":null,"patchPodMetadata":null,"volumes":null}}`) {
		t.Errorf("data %s", data)
	}
	w.set.Status.CollisionCount = ptr.To[int32](1)
	if other := w.plan().Revisions.Create.Name; other == want.Name {
		t.Errorf("after a collision it is called %s, too", other)
	}
	s := w.snapshot()
	s.RevisionNamespace = "system"
	if r := NewPlan(s).Revisions.Create; r.Namespace != "system" {
		t.Errorf("namespace %s", r.Namespace)
	}
}

// The history: newest, older, new; and revisions that are not the SidecarSet's. (SCS-R3)
func TestHistory(t *testing.T) {
	w := newWorld(t, logs)
	step := func(want string) {
		t.Helper()
		plan := w.sync()
		first, _, _ := strings.Cut(plan.Plan.String(), "\nwait")
		lines := strings.Split(first, "\n")[1:]
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "revision") })
		got := strings.NewReplacer(w.set.Name+"-", "").Replace(strings.Join(lines, ", "))
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	step("create revision d6dcf979f (1)")
	step("")
	w.image("log", "log:v2")
	step("create revision 689448cd94 (2)")
	w.image("log", "log:v1")
	step("raise revision d6dcf979f to 3")
	step("")
	if w.set.Status.LatestRevision != "demo-d6dcf979f" {
		t.Errorf("latest %s", w.set.Status.LatestRevision)
	}

	newest := w.revisions[0]
	newest.Data.Raw = []byte(strings.Replace(string(newest.Data.Raw), `{"spec":`, `{ "spec" :`, 1))
	step("") // the same by meaning

	newest.OwnerReferences[0].UID = "of another"
	step("create revision d6dcf979f (3)")
	w.revisions = w.revisions[:2]
	newest.OwnerReferences[0].UID, newest.Namespace = w.set.UID, "elsewhere"
	step("create revision d6dcf979f (3)")
	w.revisions = w.revisions[:2]
	newest.Namespace, newest.Data.Raw = DefaultRevisionNamespace, []byte("{")
	if plan := w.plan(); plan.Revisions.Create == nil || len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), newest.Name) {
		t.Error(plan)
	}
}

// Which revisions are deleted. (SCS-R5)
func TestTruncation(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		act        func(*world)
		want       string // revisions that are deleted, by number
	}{
		{"within the limit", "{}", func(*world) {}, ""},
		{"beyond it", "{revisionHistoryLimit: 3}", func(*world) {}, "1 2"},
		{"at least one", "{revisionHistoryLimit: 0}", func(*world) {}, "1 2 3 4"},
		{"negative", "{revisionHistoryLimit: -1}", func(*world) {}, "1 2 3 4"},
		{"a new one counts", "{revisionHistoryLimit: 5}", func(w *world) { w.image("log", "log:v9") }, "1"},
		{"one that a pod has", "{revisionHistoryLimit: 3}", func(w *world) { w.addAs(w.bare("a"), old(w, 1)) }, "2 3"},
		{"one that a pod has which has ended", "{revisionHistoryLimit: 3}", func(w *world) { w.addAs(w.bare("a"), old(w, 1)).Status.Phase = corev1.PodFailed }, "1 2"},
		{"all are in use", "{revisionHistoryLimit: 3}", func(w *world) {
			for i := range 5 {
				w.addAs(w.bare(fmt.Sprint("a", i)), old(w, i+1))
			}
		}, ""},
		{"the injected one, by name", "{revisionHistoryLimit: 1}", func(w *world) {
			w.set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{RevisionName: &w.revisions[1].Name}
		}, "1 3 4"},
		{"the injected one, by version", "{revisionHistoryLimit: 1}", func(w *world) {
			w.revisions[2].Labels[v1alpha1.SidecarSetCustomVersionLabel] = "x"
			w.set.Spec.InjectionStrategy.Revision = &v1alpha1.SidecarSetInjectRevision{CustomVersion: ptr.To("x")}
		}, "1 2 4"},
		{"the latest is an old one", "{revisionHistoryLimit: 1}", func(w *world) { w.image("log", "log:v1") }, "2 3 4 5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, logs)
			for i := range 5 {
				w.image("log", fmt.Sprintf("log:v%d", i+1))
				w.sync()
			}
			w.edit(test.spec)
			test.act(w)
			var got []string
			for _, r := range w.plan().Revisions.Delete {
				got = append(got, fmt.Sprint(r.Revision))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("deleted %v, want %s", got, test.want)
			}
		})
	}
}

// old is the SidecarSet as it was with a revision.
func old(w *world, number int) *v1alpha1.SidecarSet {
	set := w.set.DeepCopy()
	if err := injection.Read(set, w.revisions[number-1]); err != nil {
		w.t.Fatal(err)
	}
	set.Status.LatestRevision = w.revisions[number-1].Name
	return set
}
