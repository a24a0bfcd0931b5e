// SPDX-License-Identifier: Apache-2.0

package evictionresponder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func webPod(name string, ready corev1.ConditionStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "uid-of-a-pod",
			Annotations: map[string]string{lifecyclev1alpha1.EvictionDeniedAnnotation: at.Format(time.RFC3339)},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

// waiting is a snapshot with nothing to do but to wait for room: the other pod is as given.
func waiting(other *corev1.Pod) *Snapshot {
	pod := webPod("web-a", corev1.ConditionTrue)
	now := metav1.NewTime(at)
	s := &Snapshot{
		Eviction: &Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-a", UID: "e"}},
		Set: &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"},
			Spec: workloadsv1alpha1.CloneSetSpec{UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxSurge: new(intstr.FromInt32(1))}}},
		Pod: pod, Pods: []*corev1.Pod{pod, other}, Now: at,
	}
	other.UID, other.Annotations = "uid-of-another", nil
	s.Eviction.Spec.Target.Pod = &PodReference{Name: "web-a", UID: pod.UID}
	s.Eviction.Status.TargetResponders = []TargetResponder{{Name: ResponderName, State: ResponderActive}}
	s.Eviction.Status.Responders = []ResponderStatus{{Name: ResponderName, StartTime: &now, HeartbeatTime: &now}}
	s.Eviction.Status.Responders[0].Message = new(NewPlan(s).Waiting[0].Reason.Message)
	return s
}

func describe(s Snapshot) string {
	p := NewPlan(&s)
	return fmt.Sprint(p.Confirm, p.Evict, p.Note != nil, p.Report, p.Waiting, p.RequeueAfter)
}

// Whatever changes the plan of an Eviction that waits enqueues it.
func TestEventsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	s := waiting(webPod("web-b", corev1.ConditionFalse))
	if plan := NewPlan(s); plan.Evict || plan.Note != nil || plan.Report != nil {
		t.Fatalf("it is not settled: %s", describe(*s))
	}
	fields := regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp|Labels|Annotations|OwnerReferences)|Status)`)
	matters := func(before, after *corev1.Pod) bool { return controller.Changed(before, after, podFields) != 0 }
	mutation.Plan[corev1.Pod]{What: "pod", Copy: (*corev1.Pod).DeepCopy, Can: fields, Matters: matters,
		Of: func(pod *corev1.Pod) string { c := *s; c.Pod = pod; return describe(c) },
	}.Check(t, reads, s.Pod)
	mutation.Plan[corev1.Pod]{What: "other", Copy: (*corev1.Pod).DeepCopy, Can: fields, Matters: matters,
		Of: func(pod *corev1.Pod) string { c := *s; c.Pods = []*corev1.Pod{s.Pod, pod}; return describe(c) },
	}.Check(t, reads, s.Pods[1])
	mutation.Plan[Eviction]{What: "eviction", Copy: (*Eviction).DeepCopy, Can: regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp)|Status)`),
		Of:      func(e *Eviction) string { c := *s; c.Eviction = e; return describe(c) },
		Matters: func(before, after *Eviction) bool { return controller.Changed(before, after, controller.Status) != 0 },
	}.Check(t, reads, s.Eviction)
	reads.Require(t, "pod.ObjectMeta.UID", "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.OwnerReferences[].Controller", "pod.Status.Phase", "pod.Status.Conditions[].Status",
		"pod.ObjectMeta.Annotations["+lifecyclev1alpha1.EvictionDeniedAnnotation+"]", "other.Status.Conditions[].Status",
		"eviction.ObjectMeta.DeletionTimestamp", "eviction.Status.TargetResponders[].State", "eviction.Status.Responders[].HeartbeatTime")
}

// A copy of an Eviction shares nothing with it.
func TestDeepCopy(t *testing.T) {
	s := waiting(webPod("web-b", corev1.ConditionTrue))
	before := shownWhole(s.Eviction)
	for _, m := range mutation.Of(s.Eviction) {
		m.Apply(s.Eviction.DeepCopyObject())
		if after := shownWhole(s.Eviction); after != before {
			t.Fatalf("a change of %s in a copy changes the original: %s", m.Path, after)
		}
	}
	list := &EvictionList{Items: []Eviction{*s.Eviction}}
	list.DeepCopyObject().(*EvictionList).Items[0].Spec.Target.Pod.Name = "other"
	if list.Items[0].Spec.Target.Pod.Name != "web-a" {
		t.Error("a copy of a list shares its items")
	}
}

func shownWhole(e *Eviction) string {
	data, err := json.Marshal(e)
	return fmt.Sprint(string(data), err)
}
