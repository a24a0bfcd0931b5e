// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/conformance/podfields"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// fromTemplate is a new StatefulSet.
func fromTemplate(template *corev1.PodTemplateSpec) *statefulset.Snapshot {
	return &statefulset.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Set: &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default", UID: "1", Generation: 1},
		Spec: v1beta1.StatefulSetSpec{Replicas: new(int32(1)), ServiceName: "db", Template: *template, Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{}}},
	}}
}

func TestLaunchPriority(t *testing.T) {
	podfields.CheckBarriers(t, func(template *corev1.PodTemplateSpec, on bool) *corev1.Pod {
		s := fromTemplate(template)
		s.Features.LaunchPriority = on
		return statefulset.NewPlan(s).Create[0].Pod
	})
}

// Every field of the template reaches the pods, also of a revision that is stored: pod-level resources, image volumes, native
// sidecars, and whatever Kubernetes has.
func TestPodFields(t *testing.T) {
	podfields.Check(t, nil, func(template *corev1.PodTemplateSpec) (pods []*corev1.Pod) {
		template.Labels = map[string]string{"app": "db"}
		s := fromTemplate(template)
		set := s.Set
		newest := statefulset.NewPlan(s)
		s.Revisions = []*appsv1.ControllerRevision{newest.Revisions.Create}
		set.Status = *newest.Status
		set.Spec.Template = *template.DeepCopy()
		set.Spec.Template.Spec.Containers[0].Image = "another"
		set.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(1))
		stored := statefulset.NewPlan(s)
		for _, created := range append(newest.Create, stored.Create...) {
			pods = append(pods, created.Pod)
		}
		return pods
	}, "Hostname", "Subdomain", "ReadinessGates")
}
