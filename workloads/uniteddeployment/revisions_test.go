// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UD-R1, UD-R2: the data, the name and the labels of a revision that OpenKruise has written.
func TestRevisionData(t *testing.T) {
	const data = `{"spec":{"template":{"$patch":"replace","cloneSetTemplate":{"metadata":{"creationTimestamp":null,"labels":{"app":"demo"}},"spec":{"scaleStrategy":{},"selector":null,"template":{"metadata":{"creationTimestamp":null,"labels":{"app":"demo"}},"spec":{"containers":[{"image":"nginx:1.21","name":"main","resources":{}}]}},"updateStrategy":{}}}}}}`
	set := newSet(t)
	r := NewPlan(&Snapshot{Set: set}).Revisions.Create
	if diff := cmp.Diff(data, string(r.Data.Raw)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{revision.HashLabel: "76b76b9b44"}, r.Labels); diff != "" || r.Name != "web-76b76b9b44" || len(r.OwnerReferences) != 1 {
		t.Errorf("name %s, owners %v, labels (-want +got):\n%s", r.Name, r.OwnerReferences, diff)
	}
	r = NewPlan(&Snapshot{Set: newSet(t, templateYAML(StatefulSet, "volumeClaimTemplates: [{metadata: {name: data}}], "))}).Revisions.Create
	if r.Labels["app"] != "demo" || strings.Count(string(r.Data.Raw), `"creationTimestamp":null`) != 3 || !contains(string(r.Data.Raw), `"serviceName":""`) {
		t.Errorf("labels %v, data %s", r.Labels, r.Data.Raw)
	}
	for _, kind := range kinds {
		set := newSet(t, templateYAML(kind, ""))
		r := NewPlan(&Snapshot{Set: set}).Revisions.Create
		if template, err := templateOf(r); err != nil || !cmp.Equal(&set.Spec.Template, template) {
			t.Errorf("%s: error %v, read back (-want +got):\n%s", kind, err, cmp.Diff(&set.Spec.Template, template))
		}
	}
	for _, raw := range []string{"", "{", `{"spec":{}}`} {
		if _, err := templateOf(&appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(raw)}}); err == nil {
			t.Errorf("no error for %q", raw)
		}
	}
}

func TestRevisions(t *testing.T) {
	image := func(image string) func(*v1alpha1.UnitedDeploymentSpec) {
		return func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = image }
	}
	w := newWorld(t, newSet(t, "revisionHistoryLimit: 1"))
	first := w.settle().Revisions.Update
	// UD-R3: the same template in other bytes is the same revision.
	w.Revisions[0] = first.DeepCopy()
	w.Revisions[0].Data.Raw = []byte(strings.ReplaceAll(string(first.Data.Raw), `"creationTimestamp":null,`, ""))
	if plan := NewPlan(&w.Snapshot).String(); plan != "" {
		t.Errorf("the plan is %s", plan)
	}
	w.edit(image("a:2"))
	w.settle()
	w.edit(image("nginx:1.21"))
	w.settle()
	// UD-R5: beyond the limit, the oldest that nothing uses; the status names the first.
	w.edit(image("a:3"))
	w.settle()
	w.edit(image("a:4"))
	w.do(NewPlan(&w.Snapshot))
	deleted := NewPlan(&w.Snapshot).Revisions.Delete
	if len(deleted) != 1 || w.Set.Status.CurrentRevision == "" || !contains(string(deleted[0].Data.Raw), `"a:2"`) {
		t.Errorf("deleted revisions %v", deleted)
	}
	// UD-R3: another hash after a collision.
	w.Set.Status.CollisionCount = new(int32(1))
	w.edit(image("a:5"))
	if name := NewPlan(&w.Snapshot).Revisions.Create.Name; name == revision.Name("web", revision.Hash(NewPlan(&w.Snapshot).Revisions.Create.Data.Raw, nil)) {
		t.Errorf("the name %s", name)
	}
	// UD-R3: those of others do not count, orphans are adopted.
	foreign, orphan := first.DeepCopy(), first.DeepCopy()
	foreign.OwnerReferences[0].UID, orphan.OwnerReferences = "other", nil
	if plan := NewPlan(&Snapshot{Set: newSet(t), Revisions: []*appsv1.ControllerRevision{foreign, nil}}); plan.Revisions.Create == nil {
		t.Error("a revision of another owner is used")
	}
	if plan := NewPlan(&Snapshot{Set: newSet(t), Revisions: []*appsv1.ControllerRevision{orphan}}); plan.Revisions.Create != nil || len(plan.Revisions.Adopt) != 1 {
		t.Errorf("an orphan is not adopted: %v", plan.Revisions)
	}
}
