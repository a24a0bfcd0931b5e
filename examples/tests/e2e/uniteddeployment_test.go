// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// unitedFixture is a fixture of UnitedDeployments whose workloads are of one kind.
type unitedFixture struct {
	*fixture[*v1alpha1.UnitedDeployment]
	of subsetKind
}

func newUnitedFixture(t *testing.T, of subsetKind) *unitedFixture {
	t.Helper()
	return &unitedFixture{newFixture(t, steady, unitedDeploymentKind), of}
}

var unitedDeploymentKind = &kind[*v1alpha1.UnitedDeployment]{
	name: "UnitedDeployment",
	client: func(of client.Interface, namespace string) clientOf[*v1alpha1.UnitedDeployment] {
		return of.UnitedDeployments(namespace)
	},
	source: func(of client.Interface, namespace string) mirror.Source {
		return mirror.Of(of.UnitedDeployments(namespace))
	},
	state: func(set *v1alpha1.UnitedDeployment) state {
		return state{replicas: *set.Spec.Replicas, observedGeneration: set.Status.ObservedGeneration, status: set.Status}
	},
}

// subsetKind is a kind of workloads of subsets.
type subsetKind struct {
	name     string
	resource schema.GroupVersionResource
	template func(*v1alpha1.SubsetTemplate) (*metav1.ObjectMeta, *corev1.PodTemplateSpec)
	// free is a field that no template here gives, and users may.
	free    string
	value   int64
	ignores bool // partitions
}

var unitedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

var (
	unitedCloneSets = subsetKind{
		name: "CloneSet", resource: v1alpha1.SchemeGroupVersion.WithResource("clonesets"), free: "minReadySeconds", value: 1,
		template: func(of *v1alpha1.SubsetTemplate) (*metav1.ObjectMeta, *corev1.PodTemplateSpec) {
			if of.CloneSetTemplate == nil {
				of.CloneSetTemplate = &v1alpha1.CloneSetTemplateSpec{Spec: v1alpha1.CloneSetSpec{Selector: unitedSelector}} // the CRD wants one
			}
			return &of.CloneSetTemplate.ObjectMeta, &of.CloneSetTemplate.Spec.Template
		}}
	unitedStatefulSets = subsetKind{
		name: "StatefulSet", resource: appsv1.SchemeGroupVersion.WithResource("statefulsets"), free: "minReadySeconds", value: 1,
		template: func(of *v1alpha1.SubsetTemplate) (*metav1.ObjectMeta, *corev1.PodTemplateSpec) {
			if of.StatefulSetTemplate == nil {
				of.StatefulSetTemplate = &v1alpha1.StatefulSetTemplateSpec{}
			}
			return &of.StatefulSetTemplate.ObjectMeta, &of.StatefulSetTemplate.Spec.Template
		}}
	subsetKinds = []subsetKind{unitedCloneSets, unitedStatefulSets, {
		name: "Advanced StatefulSet", resource: v1beta1.SchemeGroupVersion.WithResource("statefulsets"), free: "updateStrategy.rollingUpdate.minReadySeconds", value: 1,
		template: func(of *v1alpha1.SubsetTemplate) (*metav1.ObjectMeta, *corev1.PodTemplateSpec) {
			if of.AdvancedStatefulSetTemplate == nil {
				of.AdvancedStatefulSetTemplate = &v1alpha1.AdvancedStatefulSetTemplateSpec{Spec: v1beta1.StatefulSetSpec{Selector: unitedSelector}}
			}
			return &of.AdvancedStatefulSetTemplate.ObjectMeta, &of.AdvancedStatefulSetTemplate.Spec.Template
		},
	}, {
		name: "Deployment", resource: appsv1.SchemeGroupVersion.WithResource("deployments"), free: "minReadySeconds", value: 1, ignores: true,
		template: func(of *v1alpha1.SubsetTemplate) (*metav1.ObjectMeta, *corev1.PodTemplateSpec) {
			if of.DeploymentTemplate == nil {
				of.DeploymentTemplate = &v1alpha1.DeploymentTemplateSpec{}
			}
			return &of.DeploymentTemplate.ObjectMeta, &of.DeploymentTemplate.Spec.Template
		},
	}}
)

// united is a UnitedDeployment with a subset in each zone that is given, which has the name of the zone.
func (s *unitedFixture) united(replicas int32, zones ...string) *v1alpha1.UnitedDeployment {
	set := &v1alpha1.UnitedDeployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.UnitedDeploymentSpec{
		Replicas: &replicas, RevisionHistoryLimit: new(int32(1)), Selector: unitedSelector}}
	meta, pods := s.of.template(&set.Spec.Template)
	*pods = template("web")
	meta.Labels = pods.Labels
	for _, zone := range zones {
		set.Spec.Topology.Subsets = append(set.Spec.Topology.Subsets, v1alpha1.Subset{Name: zone, NodeSelectorTerm: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}})
	}
	return set
}

// image sets the image of the container main.
func (s *unitedFixture) image(name string) func(*v1alpha1.UnitedDeployment) {
	return func(set *v1alpha1.UnitedDeployment) {
		_, pods := s.of.template(&set.Spec.Template)
		pods.Spec.Containers[0].Image = name
	}
}

// holdBack holds back pods of subsets.
func holdBack(partitions map[string]int32) func(*v1alpha1.UnitedDeployment) {
	return func(set *v1alpha1.UnitedDeployment) {
		set.Spec.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{Partitions: partitions}
	}
}

// awaitPods waits until the active pods are these, all in service, shown as "subset node image", and the status counts them.
func (s *unitedFixture) awaitPods(rule string, want ...string) *v1alpha1.UnitedDeployment {
	s.Helper()
	slices.Sort(want)
	s.awaitStatus("web", fmt.Sprintf("%s: the pods are %q", rule, want), func(set *v1alpha1.UnitedDeployment) string {
		var got []string
		served := 0
		for _, pod := range s.Pods.All() {
			if podstate.Active(pod) {
				got = append(got, pod.Labels[v1alpha1.SubsetNameLabel]+" "+pod.Spec.NodeName+" "+pod.Spec.Containers[0].Image)
			}
			if podstate.InService(pod) {
				served++
			}
		}
		slices.Sort(got)
		if n := int32(len(want)); !slices.Equal(got, want) || served != len(want) || set.Status.Replicas != n || set.Status.ReadyReplicas != n {
			return fmt.Sprintf("%q, %d of them in service, status %+v", got, served, set.Status)
		}
		return ""
	})
	set, _ := s.sets.Named("web")
	return set
}

// awaitUpdated waits until the status counts so many pods at the present revision, and says whether that is the current one.
func (s *unitedFixture) awaitUpdated(rule string, want int32, current bool) *v1alpha1.UnitedDeployment {
	s.Helper()
	s.awaitStatus("web", fmt.Sprintf("%s: %d pods are updated, the update is done: %t", rule, want, current), func(set *v1alpha1.UnitedDeployment) string {
		if st := &set.Status; st.UpdatedReadyReplicas != want || (st.CurrentRevision == st.UpdateStatus.UpdatedRevision) != current {
			return fmt.Sprintf("%+v", *st)
		}
		return ""
	})
	set, _ := s.sets.Named("web")
	return set
}

func (s *unitedFixture) children() dynamic.ResourceInterface {
	return s.Dynamic.Resource(s.of.resource).Namespace(s.Namespace)
}

// child returns the workload of a subset; nil if there is none.
func (s *unitedFixture) child(subset string) *unstructured.Unstructured {
	s.Helper()
	list, err := s.children().List(s.Context(), metav1.ListOptions{LabelSelector: v1alpha1.SubsetNameLabel + "=" + subset})
	if err != nil || len(list.Items) > 1 {
		s.Fatalf("%d workloads of the subset %s: error %v", len(list.Items), subset, err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	return &list.Items[0]
}

// intervene changes the workload of a subset as a user does. It changes the number of pods, which the controller sets
// right, and a field that no template gives. (UD-10.1, UD-10.3)
func (s *unitedFixture) intervene(subset string, replicas int64) {
	s.Helper()
	child := s.child(subset).DeepCopy()
	if err := unstructured.SetNestedField(child.Object, s.of.value, append([]string{"spec"}, strings.Split(s.of.free, ".")...)...); err != nil {
		s.Fatal(err)
	}
	spec, _, _ := unstructured.NestedMap(child.Object, "spec")
	field, _, _ := strings.Cut(s.of.free, ".")
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas + 3, field: spec[field]}})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.children().Patch(s.Context(), child.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.AwaitAsking("UD-10.1: a number of pods that a user sets is set right", func() string {
		if got, _, _ := unstructured.NestedInt64(s.child(subset).Object, "spec", "replicas"); got != replicas {
			return fmt.Sprint(got, " replicas")
		}
		return ""
	})
}

// free returns the value of the field that users set.
func (s *unitedFixture) free(subset string) int64 {
	s.Helper()
	value, _, err := unstructured.NestedInt64(s.child(subset).Object, append([]string{"spec"}, strings.Split(s.of.free, ".")...)...)
	if err != nil {
		s.Error(err)
	}
	return value
}

// A UnitedDeployment of each kind has two zones. A user changes one of its workloads, an update is held back, a
// template comes back, and a zone is given up.
func TestUnitedDeployment(t *testing.T) {
	t.Parallel()
	for _, of := range subsetKinds {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			s := newUnitedFixture(t, of)
			stored := s.create(s.united(4, "zone-a", "zone-b"))
			if update := stored.Spec.UpdateStrategy; update.Type != v1alpha1.ManualUpdateStrategyType || update.ManualUpdate == nil {
				t.Errorf("UD-14: defaults: %+v", stored.Spec)
			}
			const a, b = "zone-a node-0 web:", "zone-b node-1 web:"
			set := s.awaitPods("UD-3.3, UD-8.2", a+"1", a+"1", b+"1", b+"1")
			first := set.Status.UpdateStatus.UpdatedRevision
			if diff := cmp.Diff(map[string]int32{"zone-a": 2, "zone-b": 2}, set.Status.SubsetReplicas); diff != "" {
				t.Errorf("UD-12.2: the replicas of subsets (-want +got):\n%s", diff)
			}
			if child := s.child("zone-a"); !metav1.IsControlledBy(child, set) || !strings.HasPrefix(child.GetName(), "web-zone-a-") {
				t.Errorf("UD-6, UD-8: the workload of zone-a is %s, with the owners %v", child.GetName(), child.GetOwnerReferences())
			}
			if err := s.tryEdit("web", holdBack(map[string]int32{"nowhere": 1})); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "nowhere") {
				t.Errorf("UD-15: a partition of no subset: %v", err)
			}
			s.intervene("zone-a", 2)

			s.edit("web", s.image("web:2"), holdBack(map[string]int32{"zone-a": 9, "zone-b": 1}))
			if of.ignores {
				s.awaitPods("UD-4", a+"2", a+"2", b+"2", b+"2")
			} else {
				s.awaitPods("UD-4", a+"1", a+"1", b+"1", b+"2")
				s.awaitUpdated("UD-4, UD-12.3", 1, false)
			}
			set, _ = s.sets.Named("web")
			if diff := cmp.Diff(map[string]int32{"zone-a": 2, "zone-b": 1}, set.Status.UpdateStatus.CurrentPartitions); diff != "" {
				t.Errorf("UD-4: the partitions (-want +got):\n%s", diff)
			}
			s.edit("web", holdBack(nil))
			s.awaitPods("UD-4", a+"2", a+"2", b+"2", b+"2")
			second := s.awaitUpdated("UD-12.3", 4, true).Status.CurrentRevision
			if value := s.free("zone-a"); value != of.value {
				t.Errorf("UD-10.3: a user's %s becomes %d", of.free, value)
			}

			s.edit("web", s.image("web:1"))
			if back := s.awaitUpdated("UD-12.3", 4, true).Status.CurrentRevision; back != first || second == first {
				t.Errorf("UD-R4: the revisions of the templates of web:1, web:2 and again web:1: %s, %s, %s", first, second, back)
			}
			s.edit("web", s.image("web:3"), func(set *v1alpha1.UnitedDeployment) { set.Spec.Topology.Subsets = set.Spec.Topology.Subsets[:1] })
			s.awaitPods("UD-5", a+"3", a+"3", a+"3", a+"3")
			third := s.awaitUpdated("UD-12.3", 4, true).Status.CurrentRevision
			if child := s.child("zone-b"); child != nil {
				t.Errorf("UD-5: %s %s is left", child.GetKind(), child.GetName())
			}
			s.Await("UD-R5: one revision that nothing uses is left", func() string { return s.revisions(set.UID, first, third) })

			if err := s.client.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			s.AwaitAsking("UD-13: its workloads go with it", func() string {
				if child := s.child("zone-a"); child != nil {
					return child.GetName()
				}
				return ""
			})
		})
	}
}

// revisions says what is wrong if those that an object controls are not these.
func (s *unitedFixture) revisions(owner types.UID, want ...string) string {
	var got []string
	for _, r := range s.Revisions.All() {
		if by := metav1.GetControllerOf(r); by != nil && by.UID == owner {
			got = append(got, r.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	return cmp.Diff(want, got)
}
