// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// child is the workload of the first subset.
func child(t testing.TB, set *v1alpha1.UnitedDeployment) metav1.Object {
	t.Helper()
	plan := NewPlan(&Snapshot{Set: set})
	if len(plan.Create) == 0 {
		t.Fatalf("nothing is created: %v", plan)
	}
	return plan.Create[0].Object
}

// decided is a template without what the UnitedDeployment decides itself. That is metadata beside labels
// and annotations, the number of pods, the selector, the limit of revisions and the partition.
func decided(t *v1alpha1.SubsetTemplate) *v1alpha1.SubsetTemplate {
	t = t.DeepCopy()
	meta, pods := metadata(t), podTemplate(t)
	*meta = metav1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}
	for _, labels := range []map[string]string{meta.Labels, pods.Labels} {
		for _, label := range []string{"app", hashLabel, v1alpha1.SubsetNameLabel, v1alpha1.SubsetRevisionLabel, appsv1.ControllerRevisionHashLabelKey} {
			delete(labels, label)
		}
	}
	switch {
	case t.StatefulSetTemplate != nil:
		s := &t.StatefulSetTemplate.Spec
		s.Replicas, s.Selector, s.RevisionHistoryLimit = nil, nil, nil
		if s.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			s.UpdateStrategy.RollingUpdate = nil
		} else {
			setPointer(&s.UpdateStrategy.RollingUpdate).Partition = nil
		}
	case t.AdvancedStatefulSetTemplate != nil:
		s := &t.AdvancedStatefulSetTemplate.Spec
		s.Replicas, s.Selector, s.RevisionHistoryLimit = nil, nil, nil
		if s.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			s.UpdateStrategy.RollingUpdate = nil
		} else {
			setPointer(&s.UpdateStrategy.RollingUpdate).Partition = nil
		}
	case t.CloneSetTemplate != nil:
		s := &t.CloneSetTemplate.Spec
		s.Replicas, s.Selector, s.RevisionHistoryLimit, s.UpdateStrategy.Partition = nil, nil, nil, nil
	case t.DeploymentTemplate != nil:
		s := &t.DeploymentTemplate.Spec
		s.Replicas, s.Selector, s.RevisionHistoryLimit = nil, nil, nil
	}
	return t
}

// asTemplate is the template that a workload would be made of.
func asTemplate(o metav1.Object) *v1alpha1.SubsetTemplate {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return &v1alpha1.SubsetTemplate{StatefulSetTemplate: &v1alpha1.StatefulSetTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}}
	case *v1beta1.StatefulSet:
		return &v1alpha1.SubsetTemplate{AdvancedStatefulSetTemplate: &v1alpha1.AdvancedStatefulSetTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}}
	case *v1alpha1.CloneSet:
		return &v1alpha1.SubsetTemplate{CloneSetTemplate: &v1alpha1.CloneSetTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}}
	}
	d := o.(*appsv1.Deployment)
	return &v1alpha1.SubsetTemplate{DeploymentTemplate: &v1alpha1.DeploymentTemplateSpec{ObjectMeta: d.ObjectMeta, Spec: d.Spec}}
}

// UD-8.1, UD-10.2: whatever field of a template changes, a new workload gets it, and one that is
// there becomes the same by its patch. If the field is taken back, so is that of the workload.
func TestEveryFieldOfATemplateReachesTheWorkload(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			base := newSet(t, templateYAML(kind, ""))
			from := &rendering{set: base, template: &base.Spec.Template, subset: &base.Spec.Topology.Subsets[0], revision: "web-1"}
			tried, changes, seen := map[string]bool{}, 0, map[bool]bool{} // of the spec, and of the metadata
			for _, m := range mutation.Of(&base.Spec.Template) {
				if tried[m.Path] || kind != CloneSet && strings.Contains(m.Path, "Spec.Template.Spec.") { // once for all kinds
					continue
				}
				tried[m.Path] = true
				to := *from
				to.template, to.revision = base.Spec.Template.DeepCopy(), "web-2"
				m.Apply(to.template)
				if other, ok := kindOf(to.template); !ok || other != kind || !canBeStored(to.template) {
					continue
				}
				wanted := decided(to.template)
				after := rendered(t, &to)
				if got := decided(asTemplate(after)); !equality.Semantic.DeepEqual(wanted, got) {
					t.Errorf("%s does not reach a new workload (-want +got):\n%s", m.Path, cmp.Diff(wanted, got))
					continue
				}
				if !equality.Semantic.DeepEqual(wanted, decided(&base.Spec.Template)) {
					seen[strings.Contains(m.Path, "Template.Spec.")] = true
					changes++
				}
				checkPatch(t, m.Path, from, &to)
				checkPatch(t, m.Path+", taken back", &to, from)
			}
			if !seen[true] || !seen[false] || changes < 20 {
				t.Errorf("%d fields were changed: %v", changes, seen)
			}
			t.Logf("%d fields", changes)
		})
	}
}

// rendered is a workload, as the API server stores it.
func rendered(t *testing.T, r *rendering) Object {
	t.Helper()
	o, err := r.render()
	if err != nil {
		t.Fatal(err)
	}
	o.SetUID("child")
	return o
}

// canBeStored tells whether a template is the same after it was sent: the API server would drop
// the rest.
func canBeStored(template *v1alpha1.SubsetTemplate) bool {
	raw, err := json.Marshal(template)
	if err != nil {
		return false
	}
	read := &v1alpha1.SubsetTemplate{}
	return json.Unmarshal(raw, read) == nil && equality.Semantic.DeepEqual(template, read)
}

// checkPatch checks that what was made of one template becomes what is made of another.
func checkPatch(t *testing.T, what string, from, to *rendering) {
	t.Helper()
	w := newWorld(t, from.set)
	w.put(rendered(t, from))
	u := &Update{Child: w.children()[0], Wanted: rendered(t, to), last: from}
	w.update(u)
	want, got := asTemplate(u.Wanted), asTemplate(w.children()[0].Object)
	*metadata(want), *metadata(got) = metav1.ObjectMeta{}, metav1.ObjectMeta{} // labels and annotations that are taken back stay (UD-10.3)
	if !equality.Semantic.DeepEqual(want, got) {
		t.Errorf("%s: the patch makes another workload (-want +got):\n%s", what, cmp.Diff(want, got))
	}
}

// UD-7: if the name of a revision is too long for a label, its hash stands alone. UD-6: names leave room for such a hash.
func TestLongName(t *testing.T) {
	set := newSet(t)
	set.Name = strings.Repeat("a", 60)
	o := child(t, set)
	revision := NewPlan(&Snapshot{Set: set}).Revisions.Update
	if got := o.GetLabels()[v1alpha1.SubsetRevisionLabel]; got == "" || set.Name+"-"+got != revision.Name {
		t.Errorf("label %q for the revision %s", got, revision.Name)
	}
	if got := o.GetName(); len(got) > 52 || !strings.HasPrefix(got, set.Name[:47]) {
		t.Errorf("name %q", got)
	}
}

// UD-6: the name begins with those of the UnitedDeployment and the subset, is the same for the
// same, and another if it is taken.
func TestNames(t *testing.T) {
	set := newSet(t)
	plan := NewPlan(&Snapshot{Set: set})
	first, second := plan.Create[0].Object.GetName(), plan.Create[1].Object.GetName()
	if !strings.HasPrefix(first, "web-a-") || len(first) != len("web-a-12345") || !strings.HasPrefix(second, "web-b-") {
		t.Errorf("names %s and %s", first, second)
	}
	if again := NewPlan(&Snapshot{Set: set}).Create[0].Object.GetName(); again != first {
		t.Errorf("another name for the same: %s and %s", first, again)
	}
	if other := NewPlan(&Snapshot{Set: set, Taken: []string{first}}).Create[0].Object.GetName(); other == first {
		t.Errorf("the name %s is taken", other)
	}
	leaving := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: first, DeletionTimestamp: &metav1.Time{}}}
	if other := NewPlan(&Snapshot{Set: set, CloneSets: []*v1alpha1.CloneSet{leaving}}).Create[0].Object.GetName(); other == first {
		t.Errorf("the name %s is that of a CloneSet that is being deleted", other)
	}
	set.UID = types.UID("another")
	if other := NewPlan(&Snapshot{Set: set}).Create[0].Object.GetName(); other == first {
		t.Errorf("the name %s for another UnitedDeployment", other)
	}
}

// TestMadeForAnotherSubset: UD-10.2. A workload that a user gives to another subset by its label loses what its own subset gave it.
func TestMadeForAnotherSubset(t *testing.T) {
	const topology = "topology: {subsets: [{name: a, tolerations: [{key: drain, operator: Exists}], nodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}, {name: b}]}"
	for _, kind := range kinds {
		w := newWorld(t, newSet(t, topology, templateYAML(kind, "")))
		w.settle()
		of := func(subset string) metav1.Object {
			for _, c := range w.children() {
				if c.Subset == subset {
					return c.Object
				}
			}
			t.Fatalf("%s: subset %s has no workload", kind, subset)
			return nil
		}
		w.remove(of("b").GetUID())
		moved, _ := of("a").(runtime.Object).DeepCopyObject().(metav1.Object)
		moved.GetLabels()[v1alpha1.SubsetNameLabel] = "b"
		w.put(moved)
		w.settle()
		for _, subset := range []string{"a", "b"} {
			tree, err := treeOf(of(subset))
			w.must(err)
			_, tolerates, _ := unstructured.NestedFieldNoCopy(tree, "spec", "template", "spec", "tolerations")
			_, restricted, _ := unstructured.NestedFieldNoCopy(tree, "spec", "template", "spec", "affinity", "nodeAffinity")
			if tolerates != (subset == "a") || restricted != (subset == "a") {
				t.Errorf("%s: the pods of subset %s have tolerations: %t, an affinity: %t", kind, subset, tolerates, restricted)
			}
		}
	}
}

// CT-7: that one pod was reserved is not copied into the template of a subset.
func TestChildOfACopiedTemplate(t *testing.T) {
	set := newSet(t)
	pods := podTemplate(&set.Spec.Template)
	pods.Labels = map[string]string{"app": "web", v1alpha1.ReservedPodLabel: "true"}
	got, err := (&rendering{set: set, template: &set.Spec.Template, subset: &v1alpha1.Subset{Name: "a"}, revision: "web-1"}).pods()
	if err != nil {
		t.Fatal(err)
	}
	if _, found := got.Labels[v1alpha1.ReservedPodLabel]; found || pods.Labels[v1alpha1.ReservedPodLabel] == "" {
		t.Errorf("labels %v, those of the template %v", got.Labels, pods.Labels)
	}
}
