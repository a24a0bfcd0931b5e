// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/kubectl-podwright/plan"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/statefulset"
)

// A claim that grows stands behind what is done to pods, and before what waits. (KC-19)
func TestRowsOfClaims(t *testing.T) {
	storage := func(size string) corev1.VolumeResourceRequirements {
		return corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-1"}, Spec: corev1.PersistentVolumeClaimSpec{Resources: storage("10Gi")}}
	p := &plan.Plan{Claims: []statefulset.ClaimResize{{Claim: claim, Pod: "web-1", Resources: storage("20Gi")}}}
	p.Delete = []rollout.PodDeletion{{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-3"}}, For: rollout.DeleteForScale}}
	p.Waiting = []rollout.Wait{rollout.PodWaits(pod, &rollout.Reason{Rule: rollout.RuleVolumeResize, Message: "claim data-web-1 is resized now"})}
	want := []plan.Row{
		{Pod: "web-3", Action: "delete"},
		{Pod: "claim data-web-1", Action: "resize", Detail: "from 10Gi to 20Gi, of pod web-1"},
		{Pod: "web-1", Action: "wait", Rule: "VolumeResize", Detail: p.Waiting[0].Reason.String()},
	}
	if diff := cmp.Diff(want, p.Rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
