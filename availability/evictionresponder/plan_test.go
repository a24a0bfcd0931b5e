// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/internal/testing/patches"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// at is the time of the snapshots, a minute after the responder became active.
var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const noteKey = lifecyclev1alpha1.EvictionDeniedAnnotation

// servingPod is an available pod of CloneSet web.
func servingPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at.Add(-time.Hour))}}},
	}
}

// snapshot is that of an Eviction of the only pod of a CloneSet with a maxSurge, right after the responder
// became active.
func snapshot() *evictionresponder.Snapshot {
	pod := servingPod("web-a")
	return &evictionresponder.Snapshot{
		Eviction: &evictionresponder.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-a", UID: "e"},
			Spec:       evictionresponder.EvictionSpec{Target: evictionresponder.EvictionTarget{Pod: &evictionresponder.PodReference{Name: "web-a", UID: pod.UID}}},
			Status: evictionresponder.EvictionStatus{
				TargetResponders: []evictionresponder.TargetResponder{{Name: evictionresponder.ResponderName, State: evictionresponder.ResponderActive}},
				Responders:       []evictionresponder.ResponderStatus{{Name: evictionresponder.ResponderName, StartTime: new(metav1.NewTime(at.Add(-time.Minute)))}},
			},
		},
		Set: &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"},
			Spec: workloadsv1alpha1.CloneSetSpec{Replicas: new(int32(1)), UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxSurge: new(intstr.FromInt32(1))}}},
		Pod: pod, Pods: []*corev1.Pod{pod}, Now: at,
	}
}

// shown is a plan in a line: what it does, and in how long it is made anew.
func shown(p *evictionresponder.Plan) string {
	var words []string
	if p.Confirm {
		words = append(words, "confirm")
	}
	if p.Evict {
		words = append(words, "evict")
	}
	if p.Note != nil {
		for key, value := range p.Note.Annotations {
			if key != noteKey {
				words = append(words, "another annotation "+key)
			} else if value == nil {
				words = append(words, "unnote")
			} else {
				words = append(words, "note "+*value)
			}
		}
	}
	if p.Report != nil {
		what := "heartbeat"
		if p.Report.Completed {
			what = "complete"
		}
		words = append(words, what+" "+p.Report.Heartbeat.UTC().Format(time.TimeOnly)+" "+p.Report.Message)
	}
	if p.RequeueAfter != 0 {
		words = append(words, "again "+p.RequeueAfter.String())
	}
	return strings.Join(words, "; ")
}

// TestNewPlan shows plans at 12:00:00, for an Eviction of the pod web-a. It is the only one of the CloneSet web, whose maxSurge is 1. The responder
// has been active for a minute. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	plan [confirmed] [room=1m]          plans for what the lines below say. The API server says that the pod is gone, or RoomTimeout is shorter
//	eviction PATCH, pod PATCH, set PATCH
//	                                    merges into the Eviction, the pod or the CloneSet; null stands for none
//	state STATE, report PATCH           changes the state of the responder, and what it has reported
//	another NAME PATCH                  there is another available pod of the CloneSet
//	answer 5s denied TEXT               so the API server has answered, for 5 s more, by a budget; refused stands for others
func TestNewPlan(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := snapshot()
		s.Confirmed = d.HasArg("confirmed")
		if d.HasArg("room") {
			s.RoomTimeout = time.Minute
		}
		for line := range strings.Lines(d.Input) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			change(t, s, word, rest)
		}
		return cmp.Or(shown(evictionresponder.NewPlan(s)), "nothing") + "\n"
	})
}

// change changes a snapshot as a line of a script says.
func change(t *testing.T, s *evictionresponder.Snapshot, word, rest string) {
	t.Helper()
	switch first, second, _ := strings.Cut(rest, " "); {
	case word == "eviction":
		patches.Merge(t, s.Eviction, rest)
	case word == "pod" && rest == "null":
		s.Pod = nil
	case word == "pod":
		patches.Merge(t, s.Pod, rest)
	case word == "set" && rest == "null":
		s.Set, s.Pods = nil, nil
	case word == "set":
		patches.Merge(t, s.Set, rest)
	case word == "state":
		s.Eviction.Status.TargetResponders[0].State = evictionresponder.ResponderState(rest)
	case word == "report":
		patches.Merge(t, &s.Eviction.Status.Responders[0], rest)
	case word == "another":
		pod := servingPod(first)
		patches.Merge(t, pod, cmp.Or(second, "{}"))
		s.Pods = append(s.Pods, pod)
	case word == "answer":
		by, message, _ := strings.Cut(second, " ")
		s.Answer = &evictionresponder.Answer{Until: at.Add(patches.Duration(t, first)), Denied: by == "denied", Message: message}
	default:
		t.Fatalf("no line %s", word)
	}
}

func TestNewPlanOfNothing(t *testing.T) {
	for _, s := range []*evictionresponder.Snapshot{nil, {}} {
		if diff := gocmp.Diff(&evictionresponder.Plan{}, evictionresponder.NewPlan(s)); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
	}
}
