// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/availability/evictionresponder"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// at is the time of the snapshots, a minute after the responder became active.
var at = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return new(metav1.NewTime(at.Add(-d))) }

const noteKey = lifecyclev1alpha1.EvictionDeniedAnnotation

// servingPod is an available pod of CloneSet web.
func servingPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: "uid-web", Controller: new(true)}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: *ago(time.Hour)}}},
	}
}

// snapshot is that of an Eviction of the only pod of a CloneSet with a maxSurge, right after the responder
// became active.
func snapshot(edits ...func(*evictionresponder.Snapshot)) *evictionresponder.Snapshot {
	pod := servingPod("web-a")
	s := &evictionresponder.Snapshot{
		Eviction: &evictionresponder.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-a", UID: "e"},
			Spec:       evictionresponder.EvictionSpec{Target: evictionresponder.EvictionTarget{Pod: &evictionresponder.PodReference{Name: "web-a", UID: pod.UID}}},
			Status: evictionresponder.EvictionStatus{
				TargetResponders: []evictionresponder.TargetResponder{{Name: evictionresponder.ResponderName, State: evictionresponder.ResponderActive}},
				Responders:       []evictionresponder.ResponderStatus{{Name: evictionresponder.ResponderName, StartTime: ago(time.Minute)}},
			},
		},
		Set: &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web"},
			Spec: workloadsv1alpha1.CloneSetSpec{Replicas: new(int32(1)), UpdateStrategy: workloadsv1alpha1.CloneSetUpdateStrategy{MaxSurge: new(intstr.FromInt32(1))}}},
		Pod: pod, Pods: []*corev1.Pod{pod}, Now: at,
	}
	for _, edit := range edits {
		edit(s)
	}
	return s
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

type edit = func(*evictionresponder.Snapshot)

func report(s *evictionresponder.Snapshot) *evictionresponder.ResponderStatus {
	return &s.Eviction.Status.Responders[0]
}

func state(state evictionresponder.ResponderState) edit {
	return func(s *evictionresponder.Snapshot) { s.Eviction.Status.TargetResponders[0].State = state }
}

func said(before time.Duration, message string) edit {
	return func(s *evictionresponder.Snapshot) {
		report(s).HeartbeatTime, report(s).Message = ago(before), &message
	}
}

func noted(before time.Duration) edit {
	return func(s *evictionresponder.Snapshot) {
		s.Pod.Annotations = map[string]string{noteKey: at.Add(-before).Format(time.RFC3339)}
	}
}

// another adds an available pod of the CloneSet.
func another(name string, edits ...func(*corev1.Pod)) edit {
	return func(s *evictionresponder.Snapshot) {
		pod := servingPod(name)
		for _, edit := range edits {
			edit(pod)
		}
		s.Pods = append(s.Pods, pod)
	}
}

func replicas(n int32) edit { return func(s *evictionresponder.Snapshot) { s.Set.Spec.Replicas = &n } }

func surge(text string) edit {
	return func(s *evictionresponder.Snapshot) {
		s.Set.Spec.UpdateStrategy.MaxSurge = new(intstr.Parse(text))
	}
}

func answered(in time.Duration, denied bool, message string) edit {
	return func(s *evictionresponder.Snapshot) {
		s.Answer = &evictionresponder.Answer{Until: at.Add(in), Denied: denied, Message: message}
	}
}

func pod(change func(*corev1.Pod)) edit { return func(s *evictionresponder.Snapshot) { change(s.Pod) } }

func unready(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

func noSet(s *evictionresponder.Snapshot) { s.Set, s.Pods = nil, nil }

func ofReplicaSet(s *evictionresponder.Snapshot) {
	noSet(s)
	s.Pod.OwnerReferences[0].APIVersion, s.Pod.OwnerReferences[0].Kind = "apps/v1", "ReplicaSet"
}

const (
	lacks    = "CloneSet web has 0 of 1 pods available beside this one; the pod goes once it has created another, or at 2026-05-01T12:09:00Z"
	evicting = "evict; heartbeat 12:00:00 the pod is about to be evicted; again 5m0s"
	noting   = "note 2026-05-01T12:00:00Z; heartbeat 12:00:00 " + lacks + "; again 2m30s"
)

func TestNewPlan(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits []edit
		want  string
	}{
		{"EVR-1: it is not its turn yet", []edit{state(evictionresponder.ResponderInactive)}, ""},
		{"EVR-1: a state that is not known here", []edit{state("Paused")}, ""},
		{"EVR-1: the turn of another", []edit{func(s *evictionresponder.Snapshot) { s.Eviction.Status.TargetResponders[0].Name = "acme.io/other" }}, ""},
		{"EVR-1: no entry to report in", []edit{func(s *evictionresponder.Snapshot) { s.Eviction.Status.Responders = nil }}, ""},
		{"EVR-1: through", []edit{func(s *evictionresponder.Snapshot) { report(s).CompletionTime = ago(0) }}, ""},
		{"EVR-1: no pod is meant", []edit{func(s *evictionresponder.Snapshot) { s.Eviction.Spec.Target.Pod = nil }}, ""},
		{"EVR-1: the Eviction is being deleted", []edit{func(s *evictionresponder.Snapshot) { s.Eviction.DeletionTimestamp = ago(0) }}, ""},

		{"EVR-2: a cache says that the pod is gone", []edit{func(s *evictionresponder.Snapshot) { s.Pod = nil }}, "confirm; complete 12:00:00 the pod is gone"},
		{"EVR-2: the API server says so", []edit{func(s *evictionresponder.Snapshot) { s.Pod, s.Confirmed = nil, true }}, "complete 12:00:00 the pod is gone"},
		{"EVR-2: another pod has the name", []edit{pod(func(p *corev1.Pod) { p.UID = "other" })}, "confirm; complete 12:00:00 the pod is gone"},
		{"EVR-2: the pod has ended", []edit{pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}, "complete 12:00:00 the pod has ended, its phase is Failed"},
		{"EVR-3: the pod is being deleted", []edit{pod(func(p *corev1.Pod) { p.DeletionTimestamp = ago(0) })}, "heartbeat 12:00:00 the pod is being deleted; again 5m0s"},
		{"EVR-4: nobody controls the pod", []edit{noSet, pod(func(p *corev1.Pod) { p.OwnerReferences = nil })},
			"complete 12:00:00 no workload controls the pod, which is left to the next responder"},

		{"EVR-5: the only pod of a CloneSet that can surge", nil, noting},
		{"EVR-5: there is another", []edit{another("web-b")}, evicting},
		{"EVR-5: another that is not available", []edit{another("web-b", unready)}, noting},
		{"EVR-5: another that will be soon", []edit{func(s *evictionresponder.Snapshot) { s.Set.Spec.MinReadySeconds = 30 },
			another("web-b", func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = *ago(10 * time.Second) })},
			strings.Replace(noting, "again 2m30s", "again 20s", 1)},
		{"EVR-5: another that is being deleted", []edit{another("web-b", func(p *corev1.Pod) { p.DeletionTimestamp = ago(0) })}, noting},
		{"EVR-5: another that is marked for deletion", []edit{another("web-b", func(p *corev1.Pod) { p.Labels = map[string]string{lifecyclev1alpha1.SpecifiedDeleteLabel: ""} })}, noting},
		{"EVR-5: another that is to go before this one", []edit{another("web-Z", func(p *corev1.Pod) { p.Annotations = map[string]string{noteKey: at.Format(time.RFC3339)} })}, noting},
		{"EVR-5: another that is to go after this one", []edit{another("web-b", func(p *corev1.Pod) { p.Annotations = map[string]string{noteKey: at.Format(time.RFC3339)} })}, evicting},
		{"EVR-5: too few others", []edit{replicas(3), another("web-b"), another("web-c")}, strings.Replace(noting, "0 of 1", "2 of 3", 1)},
		{"EVR-5: enough others", []edit{replicas(2), another("web-b"), another("web-c")}, evicting},
		{"EVR-5: a percentage", []edit{surge("1%")}, noting},
		{"EVR-5: no surge", []edit{surge("0")}, evicting},
		{"EVR-5: a surge that nobody understands", []edit{surge("many")}, evicting},
		{"EVR-5: replicas are 1 by default", []edit{func(s *evictionresponder.Snapshot) { s.Set.Spec.Replicas = nil }}, noting},
		{"EVR-5: scaled to 0", []edit{replicas(0)}, evicting},
		{"EVR-5: the pod is not available", []edit{pod(unready)}, evicting},
		{"EVR-5: the CloneSet is being deleted", []edit{func(s *evictionresponder.Snapshot) { s.Set.DeletionTimestamp = ago(0) }}, evicting},
		{"EVR-5: CloneSets are not read", []edit{noSet}, evicting},
		{"EVR-5: a workload that makes no room", []edit{ofReplicaSet}, evicting},

		{"EVR-6: the wait is about to end", []edit{said(0, lacks), noted(0), func(s *evictionresponder.Snapshot) { report(s).StartTime = ago(10*time.Minute - time.Second) }},
			"again 1s"},
		{"EVR-6: the wait ends", []edit{func(s *evictionresponder.Snapshot) { report(s).StartTime = ago(10 * time.Minute) }}, evicting},
		{"EVR-6: a shorter one", []edit{func(s *evictionresponder.Snapshot) { s.RoomTimeout = time.Minute }}, evicting},

		{"EVR-7: a note that is not old", []edit{said(0, lacks), noted(2 * time.Minute)}, "again 30s"},
		{"EVR-7: a note that is old", []edit{said(30*time.Second, lacks), noted(150 * time.Second)}, noting},
		{"EVR-7: a note that cannot be read", []edit{said(0, lacks), pod(func(p *corev1.Pod) { p.Annotations = map[string]string{noteKey: "soon"} })}, noting},
		{"EVR-7: denied by a budget", []edit{surge("0"), answered(5*time.Second, true, "denied")}, "note 2026-05-01T12:00:00Z; heartbeat 12:00:00 denied; again 5s"},
		{"EVR-7: denied, of a workload that makes no room", []edit{ofReplicaSet, answered(5*time.Second, true, "denied")}, "heartbeat 12:00:00 denied; again 5s"},
		{"EVR-7: refused by something else", []edit{another("web-b"), answered(5*time.Second, false, "refused")}, "heartbeat 12:00:00 refused; again 5s"},

		{"EVR-8: accepted, and there is nothing to ask", []edit{another("web-b"), answered(time.Minute, false, "accepted")}, "heartbeat 12:00:00 accepted; again 1m0s"},
		{"EVR-8: time to ask again", []edit{another("web-b"), answered(0, true, "denied")}, evicting},

		{"EVR-9: canceled", []edit{state(evictionresponder.ResponderCanceled), said(10*time.Second, lacks), noted(10 * time.Second)}, "unnote"},
		{"EVR-9: interrupted", []edit{state(evictionresponder.ResponderInterrupted), said(10*time.Second, lacks), noted(10 * time.Second)}, "unnote"},
		{"EVR-9: completed", []edit{state(evictionresponder.ResponderCompleted), said(10*time.Second, lacks), noted(10 * time.Second)}, "unnote"},
		{"EVR-9: no note", []edit{state(evictionresponder.ResponderCanceled), said(30*time.Second, lacks)}, ""},
		{"EVR-9: the note of somebody else", []edit{state(evictionresponder.ResponderCanceled), said(11*time.Second, lacks), noted(10 * time.Second)}, ""},
		{"EVR-9: canceled before the first heartbeat", []edit{state(evictionresponder.ResponderCanceled), noted(10 * time.Second)}, ""},
		{"EVR-9: on another pod", []edit{state(evictionresponder.ResponderCanceled), said(30*time.Second, lacks), noted(0), pod(func(p *corev1.Pod) { p.UID = "other" })}, ""},
		{"EVR-9: no pod", []edit{state(evictionresponder.ResponderCanceled), said(0, lacks), func(s *evictionresponder.Snapshot) { s.Pod = nil }}, ""},

		{"EVR-10: nothing new", []edit{said(299*time.Second, lacks), noted(0)}, "again 1s"},
		{"EVR-10: time for a heartbeat", []edit{said(5*time.Minute, lacks), noted(0)}, "heartbeat 12:00:00 " + lacks + "; again 2m30s"},
		{"EVR-10: with a note, however early", []edit{said(time.Second, lacks)}, noting},
		{"EVR-10: another message, too early", []edit{said(19*time.Second, "before"), noted(0)}, "again 1s"},
		{"EVR-10: another message", []edit{said(20*time.Second, "before"), noted(0)}, "heartbeat 12:00:00 " + lacks + "; again 2m30s"},
		{"EVR-10: a clock that is behind the start", []edit{func(s *evictionresponder.Snapshot) { report(s).StartTime = ago(-5 * time.Second) }, ofReplicaSet},
			"evict; heartbeat 12:00:05 the pod is about to be evicted; again 5m0s"},
		{"EVR-10: a clock that is behind the last heartbeat", []edit{said(-3*time.Second, "before"), func(s *evictionresponder.Snapshot) { s.Pod, s.Confirmed = nil, true }},
			"complete 12:00:03 the pod is gone"},
		{"EVR-10: a long message", []edit{another("web-b"), answered(5*time.Second, false, strings.Repeat("ä", 1001))},
			"heartbeat 12:00:00 " + strings.Repeat("ä", 999) + "…; again 5s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, shown(evictionresponder.NewPlan(snapshot(test.edits...)))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewPlanOfNothing(t *testing.T) {
	for _, s := range []*evictionresponder.Snapshot{nil, {}} {
		if diff := cmp.Diff(&evictionresponder.Plan{}, evictionresponder.NewPlan(s)); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
	}
}
