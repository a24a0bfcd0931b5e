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

	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

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
