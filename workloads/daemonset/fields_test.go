// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/conformance/podfields"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Every field of the template reaches the pods, also of a revision that is stored: pod-level resources, image volumes, native
// sidecars, and whatever Kubernetes has. (DS-7)
func TestPodFields(t *testing.T) {
	anywhere := func(spec *corev1.PodSpec) { spec.Affinity.NodeAffinity = nil }
	podfields.Check(t, anywhere, func(template *corev1.PodTemplateSpec) (pods []*corev1.Pod) {
		template.Labels = map[string]string{"app": "agent"}
		set := &v1alpha1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "default", UID: "1", Generation: 1},
			Spec: v1alpha1.DaemonSetSpec{Template: *template, Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
				UpdateStrategy: v1alpha1.DaemonSetUpdateStrategy{RollingUpdate: &v1alpha1.RollingUpdateDaemonSet{}}},
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: template.Spec.NodeName, Labels: template.Spec.NodeSelector}}
		s := &daemonset.Snapshot{Set: set, Nodes: []*corev1.Node{node}, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		newest := daemonset.NewPlan(s)
		s.Revisions = []*appsv1.ControllerRevision{newest.Revisions.Create}
		set.Status = *newest.Status
		set.Spec.Template = *template.DeepCopy()
		set.Spec.Template.Spec.Containers[0].Image = "another"
		set.Spec.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromInt32(1))
		stored := daemonset.NewPlan(s)
		for _, created := range append(newest.Create, stored.Create...) {
			pods = append(pods, created.Pod)
		}
		return pods
	}, "Affinity", "Tolerations")
}
