// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func TestMayOwn(t *testing.T) {
	scaled := &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	deleted := &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	pod, set := metav1.OwnerReference{Kind: "Pod", Name: "web-2"}, metav1.OwnerReference{Kind: "StatefulSet", Name: "web", UID: "set"}
	for _, tt := range []struct {
		name   string
		policy *v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy
		claim  string
		owner  metav1.OwnerReference
		want   bool
	}{
		{"STS-25: claims stay where nothing is said", nil, "data-web-2", pod, false},
		{"STS-23: a pod that is left over", scaled, "data-web-2", pod, true},
		{"STS-23: another pod", scaled, "data-web-3", pod, false},
		{"STS-23: a wanted pod", scaled, "data-web-1", metav1.OwnerReference{Kind: "Pod", Name: "web-1"}, false},
		{"STS-23: the set, when only pods take claims along", scaled, "data-web-2", set, false},
		{"STS-23: the set", deleted, "data-web-0", set, true},
		{"STS-23: a pod, when only the set takes claims along", deleted, "data-web-2", pod, false},
	} {
		web := &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
		web.Spec.Replicas = new(int32(2))
		web.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		web.Spec.PersistentVolumeClaimRetentionPolicy = tt.policy
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: tt.claim}}
		if got := invariants.MayOwn(web, claim, tt.owner); got != tt.want {
			t.Errorf("%s: observed %v, expected %v", tt.name, got, tt.want)
		}
	}
}
