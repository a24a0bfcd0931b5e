package e2e

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	reCreate   = v1alpha1.RecreateCloneSetUpdateStrategyType
	inPlace    = v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	onlyInside = v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
)

// cloneSet is one whose pods have two containers: main, of the image web:1, and side, of proxy:1.
func cloneSet(name string, replicas int32, edits ...func(*v1alpha1.CloneSet)) *v1alpha1.CloneSet {
	labels := map[string]string{"app": name}
	set := &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: "main", Image: "web:1"}, {Name: "side", Image: "proxy:1"},
				}},
			},
		},
	}
	for _, edit := range edits {
		edit(set)
	}
	return set
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
