// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

func later19(s *Snapshot) { s.Features = FeaturesOf(podwright.Release19) }

// marked has users mark pods for deletion.
func marked(pods ...int) edit {
	return func(s *Snapshot) {
		for _, i := range pods {
			s.Pods[i].Labels["apps.kruise.io/specified-delete"] = ""
		}
	}
}

// warm has a preNormal hook wait for a label.
func warm(s *Snapshot) {
	s.Features.PreNormal = true
	s.Set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreNormal: &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"warm": "yes"}}}
}

// inState gives a pod a lifecycle state.
func inState(pod int, state lifecyclev1alpha1.StateType) edit {
	return func(s *Snapshot) { s.Pods[pod].Labels[lifecyclev1alpha1.StateLabel] = string(state) }
}

// STS-36: the first state of a new pod, and what is counted.
func TestFirstState(t *testing.T) {
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"without the feature":         {with(warm, func(s *Snapshot) { s.Features.PreNormal = false }), "Normal"},
		"without a hook":              {with(later19), "Normal"},
		"the hook is not met":         {with(warm), "PreparingNormal"},
		"the template meets the hook": {with(warm, func(s *Snapshot) { s.Set.Spec.Template.Labels["warm"] = "yes" }), "Normal"},
	} {
		plan := NewPlan(testSnapshot(t, "A", "A", "", append(test.edits, replicas(1))...))
		if got := plan.Create[0].Pod.Labels[lifecyclev1alpha1.StateLabel]; got != test.want {
			t.Errorf("%s: a new pod is %s, want %s", name, got, test.want)
		}
	}
	s := testSnapshot(t, "A", "A", "0A 1A", warm, inState(0, lifecyclev1alpha1.StatePreparingNormal))
	if status := NewPlan(s).Status; status.AvailableReplicas != 1 || status.UpdatedAvailableReplicas != 1 || status.ReadyReplicas != 2 || status.UpdatedReadyReplicas != 2 {
		t.Errorf("status %+v, want 1 available and 2 ready", status)
	}
}

// STS-38, STS-39: labels.
func TestLaterLabels(t *testing.T) {
	template := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: map[string]string{"app": "other", "tier": "1"}}}
	claims := func(s *Snapshot) { s.Set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{template} }
	for _, test := range []struct {
		name  string
		edits []edit
		claim map[string]string
		index string
	}{
		{"STS-38: 1.4 replaces the labels of the template", nil, map[string]string{"app": "web"}, "0"},
		{"STS-38: 1.9 keeps them, and those of the selector win", with(later19), map[string]string{"app": "web", "tier": "1"}, "0"},
		{"STS-39: no label pod-index", with(func(s *Snapshot) { s.Features.NoPodIndexLabel = true }), map[string]string{"app": "web"}, ""},
	} {
		created := NewPlan(testSnapshot(t, "A", "A", "", append(test.edits, claims, replicas(1))...)).Create[0]
		if diff := cmp.Diff(test.claim, created.Claims[0].Labels); diff != "" || created.Pod.Labels[appsv1.PodIndexLabel] != test.index {
			t.Errorf("%s: pod-index %q (-want +got):\n%s", test.name, created.Pod.Labels[appsv1.PodIndexLabel], diff)
		}
	}
	if template.Labels["app"] != "other" {
		t.Error("the template was changed")
	}
}
