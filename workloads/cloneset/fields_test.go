// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/conformance/podfields"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// fromTemplate is a new CloneSet.
func fromTemplate(template *corev1.PodTemplateSpec) *cloneset.Snapshot {
	return &cloneset.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Set: &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1", Generation: 1},
		Spec:       v1alpha1.CloneSetSpec{Replicas: new(int32(1)), Template: *template, Selector: &metav1.LabelSelector{MatchLabels: template.Labels}},
	}}
}

func TestLaunchPriority(t *testing.T) {
	podfields.CheckBarriers(t, func(template *corev1.PodTemplateSpec, on bool) *corev1.Pod {
		s := fromTemplate(template)
		s.Features.LaunchPriority = on
		return cloneset.NewPlan(s).Create[0].Pod
	})
}

// CS-CR1: every field of the template reaches the pods, also of a revision that is stored. That holds for pod-level resources,
// image volumes, native sidecars, and whatever Kubernetes has.
func TestPodFields(t *testing.T) {
	podfields.Check(t, nil, func(template *corev1.PodTemplateSpec) (pods []*corev1.Pod) {
		template.Labels = map[string]string{"app": "web"}
		s := fromTemplate(template)
		set := s.Set
		newest := cloneset.NewPlan(s)
		s.Revisions = []*appsv1.ControllerRevision{newest.Revisions.Create}
		set.Status = *newest.Status
		set.Spec.Template = *template.DeepCopy()
		set.Spec.Template.Spec.Containers[0].Image = "another"
		set.Spec.UpdateStrategy.Partition = new(intstr.FromInt32(1))
		stored := cloneset.NewPlan(s)
		for _, created := range append(newest.Create, stored.Create...) {
			pods = append(pods, created.Pod)
		}
		return pods
	}, "ReadinessGates")
}
