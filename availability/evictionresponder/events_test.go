// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
)

// waiting is a snapshot with nothing to do but to wait for room, since the other pod is not ready.
func waiting() *evictionresponder.Snapshot {
	s, other := snapshot(), servingPod("web-b")
	other.Status.Conditions[0].Status = corev1.ConditionFalse
	s.Pods = append(s.Pods, other)
	s.Pod.Annotations = map[string]string{noteKey: at.Format(time.RFC3339)}
	report := &s.Eviction.Status.Responders[0]
	report.HeartbeatTime, report.Message = new(metav1.NewTime(at)), new(evictionresponder.NewPlan(s).Waiting[0].Reason.Message)
	return s
}

func describe(s evictionresponder.Snapshot) string {
	p := evictionresponder.NewPlan(&s)
	return fmt.Sprint(p.Confirm, p.Evict, p.Note != nil, p.Report, p.Waiting, p.RequeueAfter)
}

// Whatever changes the plan of an Eviction that waits enqueues it.
func TestEventsThatMatter(t *testing.T) {
	reads := mutation.Reads{}
	s := waiting()
	if plan := evictionresponder.NewPlan(s); plan.Evict || plan.Note != nil || plan.Report != nil {
		t.Fatalf("it is not settled: %s", describe(*s))
	}
	fields := regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp|Labels|Annotations|OwnerReferences)|Status)`)
	matters := func(before, after *corev1.Pod) bool {
		return controller.Changed(before, after, evictionresponder.PodFields) != 0
	}
	mutation.Plan[corev1.Pod]{What: "pod", Copy: (*corev1.Pod).DeepCopy, Can: fields, Matters: matters,
		Of: func(pod *corev1.Pod) string { c := *s; c.Pod = pod; return describe(c) },
	}.Check(t, reads, s.Pod)
	mutation.Plan[corev1.Pod]{What: "other", Copy: (*corev1.Pod).DeepCopy, Can: fields, Matters: matters,
		Of: func(pod *corev1.Pod) string { c := *s; c.Pods = []*corev1.Pod{s.Pod, pod}; return describe(c) },
	}.Check(t, reads, s.Pods[1])
	mutation.Plan[evictionresponder.Eviction]{
		What: "eviction", Copy: (*evictionresponder.Eviction).DeepCopy, Can: regexp.MustCompile(`^\.(ObjectMeta\.(UID|DeletionTimestamp)|Status)`),
		Of: func(e *evictionresponder.Eviction) string { c := *s; c.Eviction = e; return describe(c) },
		Matters: func(before, after *evictionresponder.Eviction) bool {
			return controller.Changed(before, after, controller.Status) != 0
		},
	}.Check(t, reads, s.Eviction)
	reads.Require(t, "pod.ObjectMeta.UID", "pod.ObjectMeta.DeletionTimestamp", "pod.ObjectMeta.OwnerReferences[].Controller", "pod.Status.Phase", "pod.Status.Conditions[].Status",
		"pod.ObjectMeta.Annotations["+noteKey+"]", "other.Status.Conditions[].Status",
		"eviction.ObjectMeta.DeletionTimestamp", "eviction.Status.TargetResponders[].State", "eviction.Status.Responders[].HeartbeatTime")
}

// A copy of an Eviction shares nothing with it.
func TestDeepCopy(t *testing.T) {
	s := waiting()
	before := shownWhole(s.Eviction)
	for _, m := range mutation.Of(s.Eviction) {
		m.Apply(s.Eviction.DeepCopyObject())
		if after := shownWhole(s.Eviction); after != before {
			t.Fatalf("a change of %s in a copy changes the original: %s", m.Path, after)
		}
	}
	list := &evictionresponder.EvictionList{Items: []evictionresponder.Eviction{*s.Eviction}}
	list.DeepCopyObject().(*evictionresponder.EvictionList).Items[0].Spec.Target.Pod.Name = "other"
	if list.Items[0].Spec.Target.Pod.Name != "web-a" {
		t.Error("a copy of a list shares its items")
	}
}

func shownWhole(e *evictionresponder.Eviction) string {
	data, err := json.Marshal(e)
	return fmt.Sprint(string(data), err)
}
