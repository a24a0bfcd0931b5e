// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestProperties: whatever is edited, and whatever others do to the workloads, it settles. Then
// there is one workload for each subset, of the kind of the template, and their pods add
// up to spec.replicas. (UD-2, UD-3, UD-4, UD-5, UD-10)
func TestProperties(t *testing.T) {
	templates := map[TemplateKind]v1alpha1.SubsetTemplate{}
	for _, kind := range kinds {
		templates[kind] = newSet(t, templateYAML(kind, "")).Spec.Template
	}
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, newSet(t))
		edit := func(change func(*v1alpha1.UnitedDeploymentSpec)) func(*rapid.T) {
			return func(*rapid.T) { w.edit(change) }
		}
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				w.settle()
				if err := w.check(); err != nil {
					r.Fatal(err)
				}
			},
			"replicas": edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(rapid.Int32Range(0, 50).Draw(r, "replicas")) }),
			"image": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				podTemplate(&s.Template).Spec.Containers[0].Image = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "image")
			}),
			"kind": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				template := templates[rapid.SampledFrom(kinds).Draw(r, "kind")]
				s.Template = *template.DeepCopy()
			}),
			"subsets": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.Subsets = nil
				for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), rapid.ID[string]).Draw(r, "subsets") {
					subset := v1alpha1.Subset{Name: name}
					switch rapid.IntRange(0, 4).Draw(r, "what it asks for") {
					case 0:
						subset.Replicas = new(intstr.FromInt32(rapid.Int32Range(0, 30).Draw(r, "number")))
					case 1:
						subset.Replicas = new(intstr.FromString(fmt.Sprint(rapid.IntRange(0, 100).Draw(r, "percentage"), "%")))
					case 2:
						subset.Patch = rawExtension(`{"spec":{"priorityClassName":"low"}}`)
					}
					s.Topology.Subsets = append(s.Topology.Subsets, subset)
				}
			}),
			"partitions": edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{Partitions: map[string]int32{"a": rapid.Int32Range(0, 50).Draw(r, "partition")}}
			}),
			"somebody deletes a workload": func(r *rapid.T) {
				if all := w.children(); len(all) > 0 {
					w.remove(rapid.SampledFrom(all).Draw(r, "workload").Object.GetUID())
				}
			},
			"somebody scales CloneSets": func(*rapid.T) {
				for _, o := range w.CloneSets {
					edited(w, o, func(o *v1alpha1.CloneSet) { o.Spec.Replicas, o.Spec.MinReadySeconds = new(int32(77)), 5 })
				}
			},
			"the history is gone": func(*rapid.T) { w.Revisions = nil },
		})
	})
}

// check says what is wrong with the workloads of a UnitedDeployment that has settled.
func (w *world) check() error {
	kind, _ := kindOf(&w.Set.Spec.Template)
	wanted := map[string]bool{}
	for _, subset := range w.Set.Spec.Topology.Subsets {
		wanted[subset.Name] = true
	}
	found, sum := map[string]bool{}, int32(0)
	for _, c := range w.children() {
		if c.Kind != kind || found[c.Subset] || !metav1.IsControlledBy(c.Object, w.Set) {
			return fmt.Errorf("%s %s of %s is left", c.Kind, c.Object.GetName(), c.Subset)
		}
		var partition int32
		if manual := w.Set.Spec.UpdateStrategy.ManualUpdate; manual != nil {
			partition = min(manual.Partitions[c.Subset], c.Replicas)
		}
		if c.Partitioned && !ptr.Equal(c.Partition, &partition) {
			return fmt.Errorf("%s: partition %v, want %d", c.Subset, c.Partition, partition)
		}
		image := podTemplate(&w.Set.Spec.Template).Spec.Containers[0].Image
		if got := podTemplate(asTemplate(c.Object)).Spec.Containers[0].Image; got != image {
			return fmt.Errorf("%s: image %s, want %s", c.Subset, got, image)
		}
		found[c.Subset], sum = true, sum+c.Replicas
	}
	if !maps.Equal(found, wanted) {
		return fmt.Errorf("workloads for %v, want %v", slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(wanted)))
	}
	if replicas := ptr.Deref(w.Set.Spec.Replicas, sum); len(wanted) > 0 && sum != replicas {
		return fmt.Errorf("%d pods, want %d", sum, replicas)
	}
	return nil
}
