// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A wait says since when it is there, as far as an object tells.
func TestSince(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute)) }
	made := func(name string, minutes int) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: at(minutes)}}
	}
	state := func(state lifecyclev1alpha1.StateType, since string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Labels[lifecyclev1alpha1.StateLabel] = string(state)
			pod.Annotations = map[string]string{lifecyclev1alpha1.TimestampAnnotation: since}
		}
	}
	updating := func(status corev1.ConditionStatus) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: status, LastTransitionTime: at(7)}}
		}
	}
	none := time.Time{}
	for _, test := range []struct {
		name    string
		history []*appsv1.ControllerRevision
		label   string
		created int
		edit    func(*corev1.Pod)
		want    time.Time
	}{
		{"the revision is new", []*appsv1.ControllerRevision{made("web-a", 1), made("web-b", 5)}, "web-a", 2, nil, at(5).Time},
		{"the pod is newer", []*appsv1.ControllerRevision{made("web-a", 1), made("web-b", 5)}, "web-a", 6, nil, at(6).Time},
		{"a rollback", []*appsv1.ControllerRevision{made("web-b", 5), made("web-c", 8)}, "web-c", 9, nil, none},
		{"it is updated", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-b", 2, nil, none},
		{"a hook", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-a", 2, state(lifecyclev1alpha1.StatePreparingUpdate, at(6).Format(time.RFC3339)), at(6).Time},
		{"a hook before its deletion", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-b", 2, state(lifecyclev1alpha1.StatePreparingDelete, at(6).Format(time.RFC3339)), at(6).Time},
		{"a hook after its update", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-b", 2, state(lifecyclev1alpha1.StateUpdated, at(6).Format(time.RFC3339)), at(6).Time},
		{"a hook after its creation", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-b", 2, state(lifecyclev1alpha1.StatePreparingNormal, at(6).Format(time.RFC3339)), at(6).Time},
		{"a hook at no time", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-a", 2, state(lifecyclev1alpha1.StatePreparingUpdate, "noon"), none},
		{"no hook any more", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-a", 2, state(lifecyclev1alpha1.StateNormal, at(6).Format(time.RFC3339)), at(5).Time},
		{"in place", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-b", 2, updating(corev1.ConditionFalse), at(7).Time},
		{"in place, over", []*appsv1.ControllerRevision{made("web-b", 5)}, "web-a", 2, updating(corev1.ConditionTrue), at(5).Time},
		{"no revision", nil, "web-a", 2, nil, none},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", Labels: map[string]string{RevisionLabel: test.label}, CreationTimestamp: at(test.created)}}
		if test.edit != nil {
			test.edit(pod)
		}
		plan := rollout.Plan{}
		for _, r := range test.history {
			if r.Name == "web-b" {
				plan.Revisions.Update = r
			}
		}
		p := NewPlanner(&plan, "FailedUpdate")
		p.History = test.history
		p.wantedSince = p.revisionSince()
		p.Wait(nil, &rollout.Reason{})
		p.Wait(pod, &rollout.Reason{})
		if got := plan.Waiting[1].Since; !got.Equal(test.want) {
			t.Errorf("%s: since %s, want %s", test.name, got, test.want)
		}
		view := View{}
		view.Observe(pod)
		view.Updated = plan.Revisions.Update != nil && test.label == plan.Revisions.Update.Name
		if p.TellSince(&view); !view.Waits(&rollout.Reason{}).Since.Equal(test.want) {
			t.Errorf("%s: an observed pod waits since %s, want %s", test.name, view.since, test.want)
		}
		if got := plan.Waiting[0].Since; !got.IsZero() {
			t.Errorf("%s: new pods wait since %s, which nothing tells", test.name, got)
		}
	}
}
