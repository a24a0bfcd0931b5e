// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	reCreate   = v1alpha1.RecreateCloneSetUpdateStrategyType
	inPlace    = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	onlyInside = v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
)

// cloneSetFixture is a fixture of CloneSets.
type cloneSetFixture struct{ *fixture[*v1alpha1.CloneSet] }

func newCloneSetFixture(t *testing.T) *cloneSetFixture {
	t.Helper()
	return steady.cloneSetFixture(t)
}

func (b *bed) cloneSetFixture(t *testing.T) *cloneSetFixture {
	t.Helper()
	return &cloneSetFixture{newFixture(t, b, cloneSetKind)}
}

var cloneSetKind = &kind[*v1alpha1.CloneSet]{
	name: "CloneSet",
	client: func(of client.Interface, namespace string) clientOf[*v1alpha1.CloneSet] {
		return of.CloneSets(namespace)
	},
	source: func(of client.Interface, namespace string) mirror.Source {
		return mirror.Of(of.CloneSets(namespace))
	},
	state: func(set *v1alpha1.CloneSet) state {
		n, status := *set.Spec.Replicas, &set.Status
		return state{
			replicas: n, observedGeneration: status.ObservedGeneration, status: *status,
			unsettled: status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n ||
				status.UpdatedReplicas < status.ExpectedUpdatedReplicas ||
				status.ExpectedUpdatedReplicas == n && status.CurrentRevision != status.UpdateRevision,
		}
	},
}

// cloneSet is one whose pods are those of template.
func cloneSet(name string, replicas int32, edits ...func(*v1alpha1.CloneSet)) *v1alpha1.CloneSet {
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: template(name),
		},
	}
	for _, edit := range edits {
		edit(set)
	}
	return set
}

// template is that of pods with two containers: main, of the image web:1, and side, of proxy:1.
func template(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Image: "web:1"}, {Name: "side", Image: "proxy:1"},
		}},
	}
}

// strategy sets how pods are updated and how many may be unavailable meanwhile.
func strategy(how v1alpha1.CloneSetUpdateStrategyType, maxUnavailable int32) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) {
		set.Spec.UpdateStrategy.Type = how
		set.Spec.UpdateStrategy.MaxUnavailable = new(intstr.FromInt32(maxUnavailable))
	}
}

// image sets the image of the container main.
func image(name string) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.Template.Spec.Containers[0].Image = name }
}

func partition(value string) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Partition = new(intstr.Parse(value)) }
}

func replicas(n int32) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.Replicas = &n }
}

func podsToDelete(names ...string) func(*v1alpha1.CloneSet) {
	return func(set *v1alpha1.CloneSet) { set.Spec.ScaleStrategy.PodsToDelete = names }
}
