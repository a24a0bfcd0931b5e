// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

func TestPlanSelectsNodes(t *testing.T) {
	zone := func(z string) map[string]string { return map[string]string{"zone": z} }
	for _, test := range []struct {
		name, spec string
		want       []string
	}{
		{"IMG-1.3: neither selector: all, by name", "", []string{"a", "b", "c"}},
		{"IMG-1.3: an empty selector: all", "selector: {}", []string{"a", "b", "c"}},
		{"IMG-1.3: names, without the missing ones, each once", "selector: {names: [c, x, a, c]}", []string{"c", "a"}},
		{"IMG-1.3: labels", "selector: {matchLabels: {zone: one}}", []string{"a", "c"}},
		{"IMG-1.3: expressions", "selector: {matchExpressions: [{key: zone, operator: NotIn, values: [one]}]}", []string{"b"}},
		{"IMG-1.3: labels that no node has", "selector: {matchLabels: {zone: nine}}", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(snapshot(newJob(t, test.spec),
				nodeImage("b", labelled(zone("two"))), nodeImage("c", labelled(zone("one"))), nodeImage("a", labelled(zone("one")))))
			if diff := cmp.Diff(test.want, about(plan)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanSaysWhichNodesAreMissing(t *testing.T) {
	plan := NewPlan(snapshot(newJob(t, "selector: {names: [x, a]}"), nodeImage("a")))
	if len(plan.Waiting) != 1 || plan.Waiting[0].Subject != (rollout.Subject{Kind: "node", Name: "x"}) || plan.Waiting[0].Reason.Rule != ruleNoNodeImage {
		t.Errorf("waiting: %v", plan.Waiting)
	}
	if want := "node x: the node has no NodeImage, so no agent pulls images there"; plan.Waiting[0].String() != want {
		t.Errorf("the wait reads %q, want %q", plan.Waiting[0], want)
	}
}

func TestPlanSelectsNodesOfPods(t *testing.T) {
	web := map[string]string{"app": "web"}
	ended := pod("ended", "n5", web)
	ended.Status.Phase = corev1.PodSucceeded
	failed := pod("failed", "n5", web)
	failed.Status.Phase = corev1.PodFailed
	leaving := pod("leaving", "n5", web)
	leaving.DeletionTimestamp = &metav1.Time{Time: noon}
	pods := []*corev1.Pod{
		pod("b", "n2", web), pod("a", "n3", web), pod("d", "n2", web), pod("c", "n1", web),
		pod("other", "n4", map[string]string{"app": "db"}), pod("pending", "", web), ended, failed, leaving, pod("e", "gone", web),
	}
	s := snapshot(newJob(t, "podSelector: {matchLabels: {app: web}}"), fresh(6)...)
	s.Pods = pods
	if diff := cmp.Diff([]string{"n3", "n2", "n1"}, about(NewPlan(s))); diff != "" {
		t.Errorf("IMG-1.3: nodes of active, scheduled, matching pods that have a NodeImage, first seen first (-want +got):\n%s", diff)
	}
}

func TestPlanTakesPodsInUpdateOrder(t *testing.T) {
	gold := map[string]string{"tier": "gold"}
	weight := &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{
		{Weight: 10, MatchSelector: metav1.LabelSelector{MatchLabels: gold}}}}
	broken := &inplacev1alpha1.UpdatePriorityStrategy{WeightPriority: []inplacev1alpha1.UpdatePriorityWeightTerm{
		{Weight: 10, MatchSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}}}}
	unready := func() []*corev1.Pod {
		pods := []*corev1.Pod{pod("web-1", "n1", nil), pod("web-2", "n2", gold), pod("web-10", "n3", nil)}
		pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		pods[2].Status.Phase = corev1.PodPending
		return pods
	}
	cloneSet := func(p *inplacev1alpha1.UpdatePriorityStrategy) func(*Snapshot) {
		return func(s *Snapshot) {
			s.CloneSet = &workloadsv1alpha1.CloneSet{}
			s.CloneSet.Spec.UpdateStrategy.PriorityStrategy = p
		}
	}
	statefulSet := func(p *inplacev1alpha1.UpdatePriorityStrategy) func(*Snapshot) {
		return func(s *Snapshot) {
			s.StatefulSet = &workloadsv1beta1.StatefulSet{}
			if p != nil {
				s.StatefulSet.Spec.UpdateStrategy.RollingUpdate = &workloadsv1beta1.RollingUpdateStatefulSetStrategy{
					UnorderedUpdate: &workloadsv1beta1.UnorderedUpdateStrategy{PriorityStrategy: p}}
			}
		}
	}
	for _, test := range []struct {
		name string
		edit func(*Snapshot)
		want []string
	}{
		{"IMG-1.3: no controller: by name", func(*Snapshot) {}, []string{"n1", "n3", "n2"}},
		{"IMG-1.3: CloneSet: what serves least goes first", cloneSet(nil), []string{"n3", "n2", "n1"}},
		{"IMG-1.3: CloneSet: priority", cloneSet(weight), []string{"n2", "n3", "n1"}},
		{"IMG-1.3: CloneSet: a priority that cannot be read: by name", cloneSet(broken), []string{"n1", "n3", "n2"}},
		{"IMG-1.3: StatefulSet: from the highest ordinal down", statefulSet(nil), []string{"n3", "n2", "n1"}},
		{"IMG-1.3: StatefulSet: unordered, by priority", statefulSet(weight), []string{"n2", "n3", "n1"}},
		{"IMG-1.3: StatefulSet: a priority that cannot be read: by ordinal", statefulSet(broken), []string{"n1", "n2", "n3"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := snapshot(newJob(t, "podSelector: {}"), fresh(4)...)
			s.Pods = unready()
			test.edit(s)
			if diff := cmp.Diff(test.want, about(NewPlan(s))); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil} {
		if plan := NewPlan(s); !reflect.DeepEqual(plan, &Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
