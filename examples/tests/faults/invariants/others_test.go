// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// A WorkloadSpread writes in which order the pods go that it counts, and deletes those that wait for a node. No writer does so elsewhere.
func TestOthersAreNotTheWorkload(t *testing.T) {
	spread := func(pod *corev1.Pod) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, distributionv1alpha1.MatchedWorkloadSpreadAnnotation, `{"name":"web","subset":"a"}`)
	}
	waits := func(pod *corev1.Pod) {
		pod.Spec.NodeName = ""
		pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}}
	}
	cost := func(pod *corev1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.PodDeletionCost, "100") }
	for _, test := range []struct {
		name  string
		edits []func(*corev1.Pod)
		then  func(*corev1.Pod)
		wrong []invariants.Invariant
	}{
		{"counted", []func(*corev1.Pod){spread}, cost, nil},
		{"not counted", nil, cost, breaks(invariants.InPlace)},
		{"counted, and deleted since it waits for a node", []func(*corev1.Pod){spread, waits}, leaving, nil},
		{"counted, and deleted before it has started", []func(*corev1.Pod){spread, func(pod *corev1.Pod) { pod.Status = corev1.PodStatus{Phase: corev1.PodPending} }}, leaving, nil},
		{"counted, and deleted", []func(*corev1.Pod){spread}, leaving, breaks(invariants.Availability, invariants.Needless)},
		{"not counted, and deleted since it waits for a node", []func(*corev1.Pod){waits}, leaving, breaks(invariants.Needless)},
	} {
		j := NewJudge()
		before := pod("web-a", test.edits...)
		after := before.DeepCopy()
		test.then(after)
		see(j, Change{New: base().revision(t)}, Change{New: base().cloneSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})}, Change{New: before})
		if diff := cmp.Diff(test.wrong, kinds(j.See([]Change{{Old: before, New: after}}, false))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
