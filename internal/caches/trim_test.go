// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestTrimKeepsWhatIsRead(t *testing.T) {
	pod := owned("a", "x", metav1.OwnerReference{UID: "1"})
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	pod.Spec = corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "data"},
			{Name: "kube-api-access-x2b4k", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
			{Name: "kube-api-access-mine", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "certificates", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
		},
		Tolerations:    []corev1.Toleration{{Key: "k"}},
		Affinity:       &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}},
		NodeSelector:   map[string]string{"zone": "a"},
		NodeName:       "node-1",
		Containers:     []corev1.Container{{Name: "main", Env: []corev1.EnvVar{{Name: "A"}}, VolumeMounts: []corev1.VolumeMount{{Name: "token"}}}},
		ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "g"}},
	}
	pod.Status = corev1.PodStatus{PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}}, ContainerStatuses: []corev1.ContainerStatus{{Name: "main"}}}
	want := pod.DeepCopy()
	want.ManagedFields, want.Status.PodIPs = nil, nil
	want.Spec.Volumes = slices.Delete(want.Spec.Volumes, 1, 2)
	got, err := Trim(pod)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	missed := cache.DeletedFinalStateUnknown{Key: "x/a"}
	if got, err := Trim(missed); err != nil || got != any(missed) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestTrimNode(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"zone": "a"}}}
	want := node.DeepCopy()
	node.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
	if got, err := Trim(node); err != nil || cmp.Diff(any(want), got) != "" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Of the annotations of a StatefulSet those are kept that ask for a PersistentPodState.
func TestTrimStatefulSet(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{
		"kubectl.kubernetes.io/last-applied-configuration": "{}", "kruise.io/auto-generate-persistent-pod-state": "true", "kruise.io/required-persistent-topology": "zone",
	}}}
	want := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{
		"kruise.io/auto-generate-persistent-pod-state": "true", "kruise.io/required-persistent-topology": "zone",
	}}}
	set.Spec.Template.Spec.NodeName = "n"
	if got, err := Trim(set); err != nil || cmp.Diff(any(want), got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(any(want), got))
	}
	without := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: map[string]string{"a": "b"}}}
	if got, err := Trim(without); err != nil || got.(*appsv1.StatefulSet).Annotations != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// The latest ReplicaSet of a Deployment is known by one annotation.
func TestTrimReplicaSet(t *testing.T) {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: map[string]string{DeploymentRevision: "3", "a": "b"}}}
	rs.Spec.Template.Labels = map[string]string{"app": "web"}
	want := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Annotations: map[string]string{DeploymentRevision: "3"}}}
	if got, err := Trim(rs); err != nil || cmp.Diff(any(want), got) != "" {
		t.Errorf("got %v, %v", got, err)
	}
	delete(rs.Annotations, DeploymentRevision)
	if got, err := Trim(rs); err != nil || got.(*appsv1.ReplicaSet).Annotations != nil {
		t.Errorf("got %v, %v", got, err)
	}
}
