// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestRevisions(t *testing.T) {
	annotated := func(s *Snapshot) { s.Set.Annotations = map[string]string{"team": "x"} }
	orphan := func(s *Snapshot) { s.Revisions[0].OwnerReferences = nil }
	deleting := func(s *Snapshot) { s.Set.DeletionTimestamp = &metav1.Time{Time: testTime} }
	limit := func(s *Snapshot) { s.Set.Spec.RevisionHistoryLimit = new(int32(0)) }
	for _, tt := range []struct {
		name, template, current, pods string
		edits                         []edit
		create, raise                 string
		adopt, delete                 string
	}{
		{name: "the template is the newest revision", template: "B", current: "B", pods: "0B"},
		{name: "STS-E20: annotations of the set make no revision", template: "A", current: "A", pods: "0A", edits: with(annotated)},
		{name: "STS-E21: a roll-back reuses the revision with a raised number", template: "A", current: "B", pods: "0B", raise: "A"},
		{name: "STS-CR1: a revision without a controller is adopted", template: "A", current: "A", pods: "0A", edits: with(orphan), adopt: "A"},
		{name: "history: revisions of pods stay", template: "C", current: "C", pods: "0A 1C", edits: with(limit, partition(1)), delete: "B"},
		{name: "history: those of pods that are not under control yet stay", template: "C", current: "C", pods: "0A@ 1C", edits: with(limit), delete: "B"},
		{name: "history: the reconcile that ends an update drops what it replaced", template: "B", current: "A", pods: "0B 1B", edits: with(limit), delete: "A"},
		{name: "STS-26: a StatefulSet that is being deleted raises and drops none", template: "A", current: "B", pods: "0B", edits: with(limit, deleting)},
		{name: "history: and none before", template: "B", current: "A", pods: "0B- 1B", edits: with(limit)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, tt.template, tt.current, tt.pods, tt.edits...)
			r := NewPlan(s).Revisions
			letters := func(revisions ...*appsv1.ControllerRevision) (out string) {
				for _, r := range revisions {
					if r != nil {
						out += letterOf(s, r.Name)
					}
				}
				return out
			}
			got := []string{letters(r.Create), letters(r.Raise), letters(r.Adopt...), letters(r.Delete...)}
			if diff := cmp.Diff([]string{tt.create, tt.raise, tt.adopt, tt.delete}, got); diff != "" {
				t.Errorf("create, raise, adopt, delete (-want +got):\n%s", diff)
			}
			if letters(r.Update) != tt.template || letters(r.Current) != tt.current {
				t.Errorf("update %s, current %s", letters(r.Update), letters(r.Current))
			}
		})
	}
}

// The template is edited before a status was written that names a current
// revision. The pods of the former template are known as such all the same.
func TestEditBeforeTheFirstStatus(t *testing.T) {
	noStatus := func(s *Snapshot) { s.Set.Status = v1beta1.StatefulSetStatus{} }
	for name, edits := range map[string][]edit{"ordered": with(noStatus, replicas(3), partition(3)), "unordered": with(noStatus, replicas(3), partition(3), unordered)} {
		s := testSnapshot(t, "B", "A", "0A 1A", edits...)
		plan := NewPlan(s)
		if letterOf(s, plan.Revisions.Current.Name) != "A" || len(plan.Create) != 1 || letterOf(s, plan.Create[0].Pod.Labels[podplan.RevisionLabel]) != "A" || len(plan.Patch)+len(plan.Delete) > 0 {
			t.Errorf("%s: current %s, created %+v, changed %+v, deleted %+v: want one pod for the partition, at revision A",
				name, plan.Revisions.Current.Name, plan.Create, plan.Patch, plan.Delete)
		}
	}
}

func TestNewRevision(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A")
	s.Set.Spec.Template.Spec.Containers[0].Image = "z"
	r := NewPlan(s).Revisions.Create
	if r == nil {
		t.Fatal("no revision is created")
	}
	owner := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-web", Controller: new(true), BlockOwnerDeletion: new(true)}
	if diff := cmp.Diff([]metav1.OwnerReference{owner}, r.OwnerReferences); diff != "" {
		t.Errorf("owner (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(string(r.Data.Raw), `{"spec":{"template":{"$patch":"replace",`) || r.Revision != 2 {
		t.Errorf("revision %d with data %s", r.Revision, r.Data.Raw)
	}
}

func TestLongName(t *testing.T) {
	s := testSnapshot(t, "A", "A", "", replicas(1))
	s.Set.Name = strings.Repeat("w", 58)
	s.Revisions = nil
	plan := NewPlan(s)
	label := plan.Create[0].Pod.Labels[podplan.RevisionLabel]
	if label == "" || len(label) > 63 || !strings.HasSuffix(plan.Revisions.Create.Name, label) {
		t.Errorf("the label of revision %s is %q", plan.Revisions.Create.Name, label)
	}
}

func TestNewPod(t *testing.T) {
	s := testSnapshot(t, "A", "A", "0A 1A", claims(), replicas(3))
	s.Set.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}, {Name: "tmp"}}
	s.Set.Spec.Template.Annotations = map[string]string{"note": "x"}
	s.Revisions = nil
	pod := NewPlan(s).Create[0].Pod
	want := map[string]string{
		"app": "web", "statefulset.kubernetes.io/pod-name": "web-2", "apps.kubernetes.io/pod-index": "2",
		"lifecycle.apps.kruise.io/state": "Normal", "controller-revision-hash": NewPlan(s).Revisions.Update.Name,
	}
	if diff := cmp.Diff(want, pod.Labels); diff != "" {
		t.Errorf("labels, LC-18 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"lifecycle.apps.kruise.io/timestamp", "note"}, slices.Sorted(maps.Keys(pod.Annotations))); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if pod.Name != "web-2" || pod.Namespace != "shop" || pod.Spec.Hostname != "web-2" || pod.Spec.Subdomain != "svc" {
		t.Errorf("pod %s/%s with host %s.%s", pod.Namespace, pod.Name, pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	volumes := []corev1.Volume{{Name: "tmp"}, {Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-web-2"}}}}
	if diff := cmp.Diff(volumes, pod.Spec.Volumes); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
	if got := pod.Spec.ReadinessGates[len(pod.Spec.ReadinessGates)-1].ConditionType; got != lifecyclev1alpha1.KruisePodReady {
		t.Errorf("last readiness gate %s", got)
	}
}

func TestTemplateThatTheSelectorDoesNotMatch(t *testing.T) {
	s := testSnapshot(t, "A", "A", "", replicas(1))
	s.Set.Spec.Template.Labels = nil
	s.Revisions = nil
	plan := NewPlan(s)
	if len(plan.Create) != 0 {
		t.Error("a pod is created that would be released at once")
	}
	if got := problems(plan); !strings.Contains(got, `spec.selector "app=web" does not match the labels of the template, "<none>"`) {
		t.Errorf("problems %q", got)
	}
}

func TestUnreadableRevision(t *testing.T) {
	s := testSnapshot(t, "B", "A", "0B 1B", replicas(3), partition(3))
	s.Revisions[0].Data.Raw = []byte("{")
	plan := NewPlan(s)
	if got := problems(plan); !strings.Contains(got, "create pod web-2: revision "+s.Revisions[0].Name) || len(plan.Create) != 0 {
		t.Errorf("problems %q, created %d", got, len(plan.Create))
	}
}

// TestHistoryKeepsRevisionsOfPods: a revision that a pod names stays, however the
// pod is counted: without it the pod could never be updated in place.
func TestHistoryKeepsRevisionsOfPods(t *testing.T) {
	for _, tt := range []struct {
		name, pods string
		replicas   int32
		want       int // revisions to delete
	}{
		{"no pod", "0C", 1, 1}, {"terminating", "0C 1B~", 2, 0}, {"left over", "0C 1B", 1, 0}, {"ended", "0C 1B!", 2, 0},
		{"of another owner", "0C 1B#", 2, 0}, {"without a controller", "0C 1B@", 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit := int32(0)
			s := testSnapshot(t, "C", "C", tt.pods, replicas(tt.replicas), func(s *Snapshot) {
				s.Set.Spec.RevisionHistoryLimit = &limit
				s.Revisions = s.Revisions[1:] // B and C
			})
			if got := NewPlan(s).Revisions.Delete; len(got) != tt.want {
				t.Errorf("deletes %d revisions, want %d", len(got), tt.want)
			}
		})
	}
}
