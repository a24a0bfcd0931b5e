// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

type requestEdits []func(*v1alpha1.ContainerRecreateRequest)

const (
	pending    = v1alpha1.ContainerRecreateRequestPending
	recreating = v1alpha1.ContainerRecreateRequestRecreating

	gone       = "Completed: pod has gone"
	static     = "Completed: containers of static pods are not recreated"
	noResponse = "Completed: daemon has not responded for a long time"
	late       = "Completed: recreating has exceeded the activeDeadlineSeconds"
	mainNew    = `sync-container-statuses [{"name":"main","ready":true,"restartCount":2,"containerID":"containerd://m2"}]`
	takenOut   = "unready-acquired 2024-05-01T12:00:00Z"
)

// restarted is a pod whose container main has been started since the request.
func restarted(edits ...func(*corev1.Pod)) *corev1.Pod {
	edits = append([]func(*corev1.Pod){func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0] = status("main", "containerd://m2", 2, created)
	}}, edits...)
	return runningPod(edits...)
}

func mirror(pod *corev1.Pod) {
	pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "4711"}
}

func another(pod *corev1.Pod) { pod.UID = "another" }

func TestPlan(t *testing.T) {
	unlabelled := func(r *v1alpha1.ContainerRecreateRequest) { r.Labels = nil }
	for _, test := range []struct {
		name    string
		request requestEdits
		pod     *corev1.Pod // nil: there is none
		want    []string
	}{
		{"CRR-M1.1, PR-12: completed, the pod is put back before the finalizer goes", requestEdits{completed(0), held()}, runningPod(keys(own)), []string{"pod True []", "remove finalizer, deactivate"}},
		{"CRR-M1.1: deleting, the pod is put back before the finalizer goes", requestEdits{deleting, held()}, runningPod(keys(own)), []string{"pod True []", "remove finalizer"}},
		{"CRR-M1.1: the pod stays out of service for another writer", requestEdits{completed(0), held()}, runningPod(keys(own, foreign)), []string{"pod False [" + foreign + "]", "remove finalizer, deactivate"}},
		{"CRR-M1.1: a crash came before the key", requestEdits{deleting, held()}, runningPod(), []string{"remove finalizer"}},
		{"CRR-M1.1: the pod is gone", requestEdits{completed(0), held()}, nil, []string{"remove finalizer, deactivate"}},
		{"CRR-M1.1: the pod is being deleted", requestEdits{completed(0), held()}, runningPod(keys(own), leaving), []string{"remove finalizer, deactivate"}},
		{"CRR-M1.1: the pod lacks the gate", requestEdits{completed(0), held()}, runningPod(keys(own), ungated), []string{"remove finalizer, deactivate"}},
		{"CRR-M1.1: without the finalizer nothing is released", requestEdits{completed(0)}, runningPod(keys(own)), []string{"deactivate"}},
		{"CRR-M1.2: deleting, the label and the TTL do not matter", requestEdits{deleting, completed(time.Hour), ttl(5)}, runningPod(), []string{}},
		{"CRR-M1.2: deleting comes before everything", requestEdits{deleting, phase(""), age(time.Hour)}, nil, []string{}},
		{"CRR-M1.3: completed, the label goes", requestEdits{completed(0)}, runningPod(), []string{"deactivate"}},
		{"CRR-M1.3: whatever its value", requestEdits{completed(0), func(r *v1alpha1.ContainerRecreateRequest) {
			r.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] = ""
		}}, runningPod(), []string{"deactivate"}},
		{"CRR-M1.3: the label is gone, no TTL", requestEdits{completed(0), inactive}, runningPod(), []string{}},
		{"CRR-M1.4: the TTL is not over", requestEdits{completed(time.Second), inactive, ttl(5)}, runningPod(), []string{"again after 4s"}},
		{"CRR-M1.4: the TTL is over", requestEdits{completed(5 * time.Second), inactive, ttl(5)}, nil, []string{"delete"}},
		{"CRR-M1.4: a TTL of 0, the request goes with its label", requestEdits{completed(0), ttl(0)}, runningPod(), []string{"delete"}},
		{"CRR-M1.4: a negative TTL is not validated", requestEdits{completed(0), ttl(-1)}, runningPod(), []string{"delete"}},
		{"CRR-M1.4: the finalizer goes first", requestEdits{completed(time.Hour), held(), ttl(5)}, runningPod(keys(own)), []string{"pod True []", "remove finalizer, deactivate"}},

		{"CRR-M2: no pod", nil, nil, []string{gone}},
		{"CRR-M2: the pod is being deleted", nil, runningPod(leaving), []string{gone}},
		{"CRR-M2: another pod of the name", nil, runningPod(another), []string{gone}},
		{"CRR-M2: no label that tells the pod", requestEdits{unlabelled}, runningPod(), []string{gone}},
		{"CRR-M2: before the agent has answered", requestEdits{phase("")}, nil, []string{gone}},
		{"CRR-M2 comes before CRR-M3, CRR-M4", requestEdits{phase(""), age(time.Hour), deadline(3)}, nil, []string{gone}},

		{"CRR-M8: a static pod", nil, runningPod(mirror), []string{static}},
		{"CRR-M8: before the agent has answered", requestEdits{phase("")}, runningPod(mirror), []string{static}},
		{"CRR-M2 comes before CRR-M8", nil, runningPod(mirror, another), []string{gone}},
		{"CRR-M8 comes before CRR-M3, CRR-M4", requestEdits{phase(""), age(time.Hour), deadline(3)}, runningPod(mirror), []string{static}},

		{"CRR-M3: 59 s without an answer", requestEdits{phase(""), age(59 * time.Second)}, runningPod(), []string{"again after 1s"}},
		{"CRR-M3: 60 s without an answer", requestEdits{phase(""), age(time.Minute)}, runningPod(), []string{noResponse}},
		{"CRR-M3: Pending is an answer", requestEdits{phase(pending), age(time.Hour)}, runningPod(), []string{}},
		{"CRR-M3: Recreating is an answer", requestEdits{age(time.Hour)}, runningPod(), []string{}},
		{"CRR-M3 comes before CRR-M4", requestEdits{phase(""), age(time.Hour), deadline(3)}, runningPod(), []string{noResponse}},

		{"CRR-M4: the deadline counts from the creation", requestEdits{deadline(10)}, runningPod(), []string{late}},
		{"CRR-M4: it is looked at again at the deadline", requestEdits{deadline(25)}, runningPod(), []string{"again after 15s"}},
		{"CRR-M4: also while Pending", requestEdits{phase(pending), deadline(10)}, runningPod(), []string{late}},
		{"CRR-M4: also without an answer", requestEdits{phase(""), deadline(10)}, runningPod(), []string{late}},
		{"CRR-M3, CRR-M4: looked at again at the first of both, the deadline", requestEdits{phase(""), deadline(30)}, runningPod(), []string{"again after 20s"}},
		{"CRR-M3, CRR-M4: looked at again at the first of both, the answer", requestEdits{phase(""), deadline(300)}, runningPod(), []string{"again after 50s"}},
		{"CRR-M4: a deadline beyond all time", requestEdits{deadline(math.MaxInt64)}, runningPod(), []string{"again after 2562047h47m6s"}},
		{"CRR-M4: the pod stays out of service until the request is completed", requestEdits{deadline(10), unready(5), held()}, runningPod(keys(own)), []string{late}},

		{"CRR-M5: Pending waits", requestEdits{phase(pending), unready(5)}, restarted(), []string{}},
		{"CRR-M5: no phase waits", requestEdits{phase(""), unready(5)}, restarted(), []string{"again after 50s"}},

		{"CRR-M6: a container is back", nil, restarted(), []string{mainNew}},
		{"CRR-M6: the text stands already", requestEdits{annotated(syncAnnotation, mainNew[len("sync-container-statuses "):])}, restarted(), []string{}},
		{"CRR-M6: also while the deadline runs", requestEdits{deadline(25)}, restarted(), []string{mainNew, "again after 15s"}},

		{"CRR-M7, PR-11: finalizer, condition, annotation", requestEdits{unready(5)}, runningPod(), []string{"add finalizer", "pod False [" + own + "]", takenOut}},
		{"CRR-M7: 0 seconds is a step too", requestEdits{unready(0)}, runningPod(), []string{"add finalizer", "pod False [" + own + "]", takenOut}},
		{"CRR-M7: only while Recreating", requestEdits{unready(5), phase(pending)}, runningPod(), []string{}},
		{"CRR-M7: the annotation stands", requestEdits{unready(5), annotated(acquired, "then"), held()}, runningPod(keys(own)), []string{}},
		{"CRR-M7: an empty annotation does not count", requestEdits{unready(5), annotated(acquired, "")}, runningPod(ungated), []string{takenOut}},
		{"CRR-M7: no strategy at all", requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = nil }}, runningPod(), []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &recreate.Snapshot{Request: request(test.request...), Pod: test.pod, Now: now}
			before := s.Request.DeepCopy()
			plan := recreate.NewPlan(s)
			if diff := cmp.Diff(test.want, show(test.pod, plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			for _, step := range plan.Steps {
				if step.Why == "" {
					t.Errorf("a step does not say why: %+v", step)
				}
			}
			if diff := cmp.Diff(before, s.Request); diff != "" {
				t.Errorf("the request was changed:\n%s", diff)
			}
		})
	}
}

// CRR-M3, CRR-M4: what counts is the manager's own time since it knows of the request, whatever
// the creation says: that is of another clock.
func TestPlanWithSkewedClocks(t *testing.T) {
	const seen = 10 * time.Second
	for _, test := range []struct {
		name    string
		request requestEdits
		want    []string
	}{
		{"no answer yet", requestEdits{phase("")}, []string{"again after 50s"}},
		{"the deadline is not over", requestEdits{deadline(20)}, []string{"again after 10s"}},
		{"the deadline is over", requestEdits{deadline(10)}, []string{late}},
	} {
		for _, skew := range []time.Duration{-10 * time.Minute, -time.Minute, 0, time.Minute, 10 * time.Minute} {
			s := &recreate.Snapshot{Request: request(append(test.request, age(seen+skew))...), Pod: runningPod(), Seen: now.Add(-seen), Now: now}
			if diff := cmp.Diff(test.want, show(s.Pod, recreate.NewPlan(s))); diff != "" {
				t.Errorf("%s, skew %s (-want +got):\n%s", test.name, skew, diff)
			}
		}
	}
}

// CRR-M3, CRR-M4: a manager that was started a moment ago does not wait anew for what was created long ago.
func TestPlanAfterARestart(t *testing.T) {
	for want, r := range map[string]*v1alpha1.ContainerRecreateRequest{
		noResponse: request(phase(""), age(time.Hour)), late: request(age(time.Hour), deadline(20)),
	} {
		s := &recreate.Snapshot{Request: r, Pod: runningPod(), Seen: now, Now: now}
		if diff := cmp.Diff([]string{want}, show(s.Pod, recreate.NewPlan(s))); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
	}
}

// CRR-4.2: wherever the unready step was cut short, it goes on in its order.
func TestPlanUnready(t *testing.T) {
	const other = `{"userAgent":"ContainerRecreateRequest","key":"shop/other"}`
	withoutCondition := func(pod *corev1.Pod) { pod.Status.Conditions = pod.Status.Conditions[:2] }
	for _, test := range []struct {
		name    string
		request requestEdits
		pod     *corev1.Pod
		want    []string
	}{
		{"CRR-4.2.1.1: the finalizer is there", requestEdits{held()}, runningPod(), []string{"pod False [" + own + "]", takenOut}},
		{"CRR-4.2.1.1: finalizers of others stay", requestEdits{func(r *v1alpha1.ContainerRecreateRequest) { r.Finalizers = []string{"a/b"} }}, runningPod(), []string{"add finalizer", "pod False [" + own + "]", takenOut}},
		{"CRR-4.2.1.2: the key is there", requestEdits{held()}, runningPod(keys(own)), []string{takenOut}},
		{"CRR-4.2.1.2: the key is there, the finalizer was taken away", nil, runningPod(keys(own)), []string{"add finalizer, " + takenOut}},
		{"CRR-4.2.1.2: beside other writers", nil, runningPod(keys(foreign)), []string{"add finalizer", "pod False [" + own + "," + foreign + "]", takenOut}},
		{"CRR-4.2.1.2: beside another request, PR-E2", nil, runningPod(keys(other)), []string{"add finalizer", "pod False [" + other + "," + own + "]", takenOut}},
		{"CRR-4.2.1.2: no condition yet", nil, runningPod(withoutCondition), []string{"add finalizer", "pod False [" + own + "]", takenOut}},
		{"CRR-4.2.2: no gate, PR-E1", nil, runningPod(ungated), []string{takenOut}},
		{"with news of containers, in the first patch", nil, restarted(), []string{"add finalizer, " + mainNew, "pod False [" + own + "]", takenOut}},
		{"with news of containers, the finalizer is there", requestEdits{held()}, restarted(), []string{mainNew, "pod False [" + own + "]", takenOut}},
		{"with news of containers, the key is there", requestEdits{held()}, restarted(keys(own)), []string{mainNew + ", " + takenOut}},
		{"with news of containers, no gate", nil, restarted(ungated), []string{mainNew + ", " + takenOut}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &recreate.Snapshot{Request: request(append(test.request, unready(5))...), Pod: test.pod, Now: now}
			if diff := cmp.Diff(test.want, show(test.pod, recreate.NewPlan(s))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// CRR-4.2.3: the time is rounded up, so that the pod is out of service
// for no less than was asked for.
func TestAcquiredTime(t *testing.T) {
	elsewhere := time.FixedZone("elsewhere", 2*60*60)
	for at, want := range map[time.Time]string{
		now:                      "unready-acquired 2024-05-01T12:00:00Z",
		now.Add(1):               "unready-acquired 2024-05-01T12:00:01Z",
		now.Add(time.Second - 1): "unready-acquired 2024-05-01T12:00:01Z",
		now.In(elsewhere):        "unready-acquired 2024-05-01T12:00:00Z",
	} {
		plan := recreate.NewPlan(&recreate.Snapshot{Request: request(unready(5)), Pod: runningPod(ungated), Now: at})
		if diff := cmp.Diff([]string{want}, show(nil, plan)); diff != "" {
			t.Errorf("at %v (-want +got):\n%s", at, diff)
		}
	}
}

// CRR-4.1.
func TestSyncStatuses(t *testing.T) {
	both := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		return restarted(append([]func(*corev1.Pod){func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[1] = status("side", "containerd://s2", 1, now)
		}}, edits...)...)
	}
	const mainText, sideText = `{"name":"main","ready":true,"restartCount":2,"containerID":"containerd://m2"}`, `{"name":"side","ready":true,"restartCount":1,"containerID":"containerd://s2"}`
	for _, test := range []struct {
		name    string
		request requestEdits
		pod     *corev1.Pod
		want    string // empty: nothing is written
	}{
		{"started in the second of the creation", nil, restarted(), "[" + mainText + "]"},
		{"started before the creation", nil, runningPod(), ""},
		{"the order is that of the spec", requestEdits{containers("side", "main")}, both(), "[" + sideText + "," + mainText + "]"},
		{"containers that are not asked for do not matter", nil, both(), "[" + mainText + "]"},
		{"not ready yet", nil, restarted(func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].Ready = false }),
			`[{"name":"main","ready":false,"restartCount":2,"containerID":"containerd://m2"}]`},
		{"no ID is left out", nil, restarted(func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "" }),
			`[{"name":"main","ready":true,"restartCount":2}]`},
		{"no status", requestEdits{containers("main", "side")}, both(func(pod *corev1.Pod) { pod.Status.ContainerStatuses = pod.Status.ContainerStatuses[1:] }), "[" + sideText + "]"},
		{"not running", requestEdits{containers("main", "side")}, both(func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(now)}}
		}), "[" + sideText + "]"},
		{"none any more", requestEdits{annotated(syncAnnotation, "["+mainText+"]")}, runningPod(), "[]"},
		{"none, and that was said", requestEdits{annotated(syncAnnotation, "[]")}, runningPod(), ""},
		{"what somebody else wrote is replaced", requestEdits{annotated(syncAnnotation, "?")}, restarted(), "[" + mainText + "]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := []string{}
			if test.want != "" {
				want = []string{"sync-container-statuses " + test.want}
			}
			s := &recreate.Snapshot{Request: request(test.request...), Pod: test.pod, Now: now}
			if diff := cmp.Diff(want, show(test.pod, recreate.NewPlan(s))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// CRR-4: to complete a request is to write phase, time and message. A container that is
// stopped and not back has failed. The other states stay. (CRR-M4)
func TestCompletedStatus(t *testing.T) {
	states := []v1alpha1.ContainerRecreateRequestContainerRecreateState{
		{Name: "main", Phase: v1alpha1.ContainerRecreateRequestSucceeded, IsKilled: true},
		{Name: "side", Phase: recreating, IsKilled: true, Message: "m"},
	}
	s := &recreate.Snapshot{Pod: runningPod(), Now: now.Add(700 * time.Millisecond), Request: request(deadline(5), func(r *v1alpha1.ContainerRecreateRequest) {
		r.Generation, r.Status.ContainerRecreateStates = 2, slices.Clone(states)
	})}
	at := metav1.NewTime(now)
	states[1].Phase, states[1].Message = v1alpha1.ContainerRecreateRequestFailed, "it was not back when the request ended: "+v1alpha1.ContainerRecreateMessageDeadline
	want := &v1alpha1.ContainerRecreateRequestStatus{
		ObservedGeneration: 2, // CRR-6
		Phase:              v1alpha1.ContainerRecreateRequestCompleted, CompletionTime: &at,
		Message: v1alpha1.ContainerRecreateMessageDeadline, ContainerRecreateStates: states,
	}
	if diff := cmp.Diff(want, recreate.NewPlan(s).Steps[0].Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// A plan says what is waited for, in words.
func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name    string
		request requestEdits
		want    string
	}{
		{"no answer", requestEdits{phase("")}, `the node agent has not answered yet, it runs on node "node-1"`},
		{"Pending", requestEdits{phase(pending)}, `the node agent has another request of the pod to finish first, it runs on node "node-1"`},
		{"Recreating", nil, `the node agent recreates the containers, it runs on node "node-1"`},
		{"Recreating, out of service", requestEdits{unready(5)}, `the node agent recreates the containers, it runs on node "node-1"`},
		{"completed", requestEdits{completed(0)}, ""},
		{"completed, with a TTL", requestEdits{completed(0), ttl(9)}, "the request is deleted 9 seconds after its completion"},
		{"completed, the TTL is over", requestEdits{completed(time.Hour), ttl(9)}, ""},
		{"deleting", requestEdits{deleting}, ""},
		{"late", requestEdits{deadline(3)}, ""},
	} {
		got := ""
		for _, wait := range recreate.NewPlan(&recreate.Snapshot{Request: request(test.request...), Pod: runningPod(), Now: now}).Waiting {
			got += wait.String()
			if wait.Reason.Rule == "" || wait.Since.IsZero() || wait.Since.After(now) {
				t.Errorf("%s: it waits by the rule %q since %s", test.name, wait.Reason.Rule, wait.Since)
			}
		}
		if got != test.want {
			t.Errorf("%s: waiting for %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*recreate.Snapshot{nil, {}} {
		if plan := recreate.NewPlan(s); !reflect.DeepEqual(plan, &recreate.Plan{}) {
			t.Errorf("plan %+v, want none", plan)
		}
	}
}
