// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// requests are those of a snapshot.
func requests(all ...*v1alpha1.ContainerRecreateRequest) []*v1alpha1.ContainerRecreateRequest {
	return all
}

func TestChoose(t *testing.T) {
	later := at(created.Add(time.Second))
	const takes = "Recreating, main Pending, side Pending"
	for _, test := range []struct {
		name     string
		requests []*v1alpha1.ContainerRecreateRequest
		want     []string
	}{
		{"CRR-5.2: none", nil, []string{}},
		{"CRR-5.2: a new one", requests(newRequest("a")), []string{"a: " + takes, "stop main m1"}},
		{"CRR-5.2: the older of two new ones, the other waits", requests(newRequest("a", later), newRequest("b")),
			[]string{"b: " + takes, "stop main m1"}},
		{"CRR-5.2: that is told once the first is begun", requests(newRequest("a", later), newRequest("b", unready(1), phase(recreating))),
			[]string{"answer a: Pending"}},
		{"CRR-5.2: by name where both are of the same second", requests(newRequest("b"), newRequest("a")),
			[]string{"a: " + takes, "stop main m1"}},
		{"CRR-5.2: one that waits before an older new one", requests(newRequest("a"), newRequest("b", later, phase(pending))),
			[]string{"answer a: Pending", "b: " + takes, "stop main m1"}},
		{"CRR-5.2: one that was begun before one that waits", requests(newRequest("a", phase(pending)), newRequest("b", later, unready(1), phase(recreating))),
			[]string{}},
		{"CRR-5.2: one that waits already is not written", requests(newRequest("a"), newRequest("b", later, phase(pending)), newRequest("c", phase(pending))),
			[]string{"answer a: Pending", "c: " + takes, "stop main m1"}},
		{"CRR-5.2: completed ones and those being deleted do not count", requests(newRequest("a", isOver), newRequest("b", deleting, phase(recreating)), newRequest("c")),
			[]string{"c: " + takes, "stop main m1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := running("main m1", "side s1")
			s.Requests = test.requests
			if diff := cmp.Diff(test.want, show(NewPlan(s))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// CRR-5.3, by the numbers of its steps.
func TestSteps(t *testing.T) {
	both := running("main m1", "side s1")
	oneMain := containers(meant("main", "m1"))
	for _, test := range []struct {
		name    string
		request *v1alpha1.ContainerRecreateRequest
		node    *Snapshot
		want    []string
	}{
		{"CRR-5.3.1: the phase is written before it waits", newRequest("r", unready(5)), both, []string{"r: Recreating"}},
		{"CRR-5.3.2: without an unready step", newRequest("r", phase(recreating)), both,
			[]string{"r: Recreating, main Pending, side Pending", "stop main m1"}},
		{"CRR-5.3.2: the annotation is empty", newRequest("r", phase(recreating), unready(0), annotated(acquired, "")), both, []string{}},
		{"CRR-5.3.2: not yet over", newRequest("r", phase(recreating), unready(5), annotated(acquired, now.Add(-3*time.Second).Format(time.RFC3339))), both,
			[]string{"again after 2s"}},
		{"CRR-5.3.2: over", newRequest("r", oneMain, phase(recreating), unready(5), annotated(acquired, now.Add(-5*time.Second).Format(time.RFC3339))), both,
			[]string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.3.2: 0 seconds", newRequest("r", oneMain, phase(recreating), unready(0), annotated(acquired, now.Format(time.RFC3339))), both,
			[]string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.3.2: more seconds than a duration can say", newRequest("r", phase(recreating), unready(1<<62), annotated(acquired, now.Format(time.RFC3339))), both,
			[]string{"again after 876000h0m0s"}},
		{"CRR-5.3.2: the annotation is no time", newRequest("r", phase(recreating), unready(5), annotated(acquired, "x")), both,
			[]string{`r: Completed: failed to parse unready time x: parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`}},
		{"CRR-5.3.3: another runtime", newRequest("r", containers(v1alpha1.ContainerRecreateRequestContainer{Name: "main",
			StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "docker://m1"}})), both,
			[]string{`r: Completed: failed to find runtime service: container main belongs to the runtime "docker", the node runs "containerd"`}},
		{"CRR-5.3.3: two runtimes", newRequest("r", containers(meant("main", "m1"), v1alpha1.ContainerRecreateRequestContainer{Name: "side",
			StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "cri-o://s1"}})), both,
			[]string{`r: Completed: failed to find runtime service: container side belongs to the runtime "cri-o", the node runs "containerd"`}},
		{"CRR-5.3.3: no runtime", newRequest("r", containers(v1alpha1.ContainerRecreateRequestContainer{Name: "main",
			StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "m1"}})), both,
			[]string{`r: Completed: failed to find runtime service: container main has the containerID "m1": want RUNTIME://ID`}},
		{"CRR-5.3.3: no context", newRequest("r", containers(v1alpha1.ContainerRecreateRequestContainer{Name: "main"})), both,
			[]string{`r: Completed: failed to find runtime service: container main has no statusContext: the webhook of ContainerRecreateRequests fills it in`}},
		{"CRR-5.3.4: the newest of a name counts", newRequest("r", oneMain, phase(recreating)), running("main m0 EXITED", "main m1"),
			[]string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.3.6: unordered, the next is stopped at once", newRequest("r", states("main Recreating killed", "side Pending")), running("main m1 EXITED", "side s1"),
			[]string{"stop side s1"}},
		{"CRR-5.3.6: ordered, the next waits", newRequest("r", ordered, states("main Recreating killed", "side Pending")), running("main m1 EXITED", "side s1"),
			[]string{}},
		{"CRR-5.3.6: ordered, until the one before is back", newRequest("r", ordered, ready("main=m2"), states("main Recreating killed", "side Pending")), running("main m2", "side s1"),
			[]string{"r: Recreating, main Succeeded killed, side Pending", "stop side s1"}},
		{"CRR-5.3.6: Fail", newRequest("r", states("main Failed kill container error: x", "side Pending")), both,
			[]string{"r: Completed, main Failed kill container error: x, side Pending"}},
		{"CRR-5.3.6: Ignore", newRequest("r", ignore, states("main Failed kill container error: x", "side Pending")), both,
			[]string{"stop side s1"}},
		{"CRR-5.3.6: a missing container ends the walk", newRequest("r"), running("side s1"),
			[]string{"r: Recreating, main Pending not found container on Node, side Pending"}},
		{"CRR-5.3.6: one that ended by itself is not stopped", newRequest("r"), running("main m1 EXITED", "side s1"),
			[]string{"r: Recreating, main Recreating killed, side Pending", "stop side s1"}},
		{"CRR-5.3.7: with force, a state is written before the announcement that it rests on goes",
			newRequest("r", forced, states("main Pending", "side Pending"), annotated(announcement, "main=containerd://m1")), running("main m2", "side s1"),
			[]string{"r: Recreating, main Recreating killed, side Pending"}},
		{"CRR-5.3.7: nothing new is not written", newRequest("r", states("main Recreating killed", "side Recreating killed")),
			running("main m1 EXITED", "side s1 EXITED"), []string{}},
		{"CRR-5.3.8: all are back", newRequest("r", ready("main=m2", "side=s2"), states("main Recreating killed", "side Succeeded killed")), running("main m2", "side s2"),
			[]string{"r: Completed, main Succeeded killed, side Succeeded killed"}},
		{"CRR-5.3.8: Ignore, all have ended somehow", newRequest("r", ignore, states("main Failed x", "side Succeeded")), both,
			[]string{"r: Completed, main Failed x, side Succeeded"}},
		{"no strategy", newRequest("r", func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = nil }, oneMain), both,
			[]string{"r: Recreating, main Pending", "stop main m1"}},
		{"a runtime that does not answer", newRequest("r"), &Snapshot{Runtime: "containerd", Now: now, RuntimeErr: errors.New("gone")}, []string{"r: Recreating"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *test.node
			s.Requests = requests(test.request)
			before, _ := json.Marshal(test.request)
			if diff := cmp.Diff(test.want, show(NewPlan(&s))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if after, _ := json.Marshal(test.request); string(after) != string(before) {
				t.Errorf("the plan has changed the request to %s", after)
			}
		})
	}
}

// CRR-5.3.5, CRR-5.4: the state of one container, by the numbers of its rules.
func TestStates(t *testing.T) {
	oneMain := containers(meant("main", "m1"))
	started := func(s *Snapshot, id string, ago time.Duration) *Snapshot {
		s.Started = map[string]time.Time{id: now.Add(-ago)}
		return s
	}
	const stop, announce = "r: Recreating, main Pending", "announce main=containerd://m2"
	for _, test := range []struct {
		name string
		with []edit
		node *Snapshot
		want []string
	}{
		{"CRR-5.4.0: Succeeded is final", []edit{states("main Succeeded killed")}, running("main m9 EXITED"), []string{"r: Completed, main Succeeded killed"}},
		{"CRR-5.4.0: Failed is final", []edit{states("main Failed x")}, running("main m1"), []string{"r: Completed, main Failed x"}},
		{"CRR-5.4.1: not there", []edit{states("main Recreating killed")}, running("side s1"),
			[]string{"r: Recreating, main Pending killed not found container on Node"}},
		{"CRR-5.4.1: there again", []edit{states("main Pending killed not found container on Node")}, running("main m2"), []string{"r: Recreating, main Recreating killed"}},
		{"CRR-5.4.2: exited", []edit{states("main Recreating killed")}, running("main m2 EXITED"), []string{}},
		{"CRR-5.4.2: exited, with force", []edit{forced}, running("main m1 EXITED"), []string{"r: Recreating, main Recreating killed"}},
		{"CRR-5.4.2: and back, with force", []edit{forced, states("main Recreating killed")}, running("main m2"), []string{}},
		{"CRR-5.4.3: force stops one that has restarted by itself", []edit{forced}, running("main m2"), []string{stop, announce, "stop main m2"}},
		{"CRR-5.4.3: and one that is starting", []edit{forced}, running("main m2 CREATED"), []string{stop, announce, "stop main m2"}},
		{"CRR-5.4.3: once", []edit{forced, states("main Recreating killed")}, running("main m3"), []string{}},
		{"CRR-5.4.3: an agent that ended before the stop", []edit{forced, states("main Pending"), annotated(announcement, "main=containerd://m2")}, running("main m2"), []string{"stop main m2"}},
		{"CRR-5.4.3: an agent that ended between the announcement and the state", []edit{forced, annotated(announcement, "main=containerd://m2")}, running("main m2"), []string{stop, "stop main m2"}},
		{"CRR-5.4.3: an agent that ended after the stop", []edit{forced, states("main Pending"), annotated(announcement, "main=containerd://m1")}, running("main m2"), []string{"r: Recreating, main Recreating killed"}},
		{"CRR-5.4.3: another container was announced last", []edit{forced, annotated(announcement, "side=containerd://m1")}, running("main m2"), []string{stop, announce, "stop main m2"}},
		{"CRR-5.4.3: force announces the first container too", []edit{forced}, running("main m1"), []string{stop, "announce main=containerd://m1", "stop main m1"}},
		{"CRR-5.4.4: one that has restarted by itself is left alone", nil, running("main m2"), []string{"r: Recreating, main Recreating killed"}},
		{"CRR-5.4.4: and counts when it is ready", []edit{ready("main=m2")}, running("main m2"), []string{"r: Completed, main Succeeded"}},
		{"CRR-5.4.4: no word of it", []edit{states("main Recreating killed"), ready("side=m2")}, running("main m2"), []string{}},
		{"CRR-5.4.4: word of another container", []edit{states("main Recreating killed"), ready("main=m3")}, running("main m2"), []string{}},
		{"CRR-5.4.4: not ready", []edit{states("main Recreating killed"), annotated(synced, `[{"name":"main","ready":false,"restartCount":1,"containerID":"containerd://m2"}]`)},
			running("main m2"), []string{}},
		{"CRR-5.4.4: word that is not readable", []edit{states("main Recreating killed"), annotated(synced, `{`)}, running("main m2"), []string{}},
		{"CRR-5.3.9, CRR-5.4.4: minStartedSeconds", []edit{minStarted(10), states("main Recreating killed"), ready("main=m2")}, started(running("main m2"), "m2", 4*time.Second),
			[]string{"again after 6s"}},
		{"CRR-5.4.4: minStartedSeconds are over", []edit{minStarted(10), states("main Recreating killed"), ready("main=m2")}, started(running("main m2"), "m2", 10*time.Second),
			[]string{"r: Completed, main Succeeded killed"}},
		{"CRR-5.4.4: minStartedSeconds below 0", []edit{minStarted(-1), states("main Recreating killed"), ready("main=m2")}, running("main m2"),
			[]string{"r: Completed, main Succeeded killed"}},
		{"CRR-5.4.4: it is not known since when", []edit{minStarted(10), states("main Recreating killed"), ready("main=m2")}, running("main m2"), []string{"again after 10s"}},
		{"CRR-5.4.4: a container of the same ID is not replaced, however young", []edit{at(created), ready("main=m1")}, running("main m1"),
			[]string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.4.5: otherwise", nil, running("main m1"), []string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.4.5: one in an unknown state", nil, running("main m1 UNKNOWN"), []string{"r: Recreating, main Pending", "stop main m1"}},
		{"CRR-5.4.5: one that a v1.4 agent was going to stop", []edit{states("main Pending")}, running("main m1"),
			[]string{"stop main m1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.node.Requests = requests(newRequest("r", append([]edit{oneMain}, test.with...)...))
			if diff := cmp.Diff(test.want, show(NewPlan(test.node))); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// Everything that is left to do has a reason.
func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name string
		with []edit
		node *Snapshot
		want []string
	}{
		{"unready", []edit{unready(1)}, running(), []string{"request r: a controller has to take the pod out of service first"}},
		{"grace", []edit{unready(1), annotated(acquired, now.Format(time.RFC3339))}, running(), []string{"request r: unreadyGracePeriodSeconds of 1 are over in 1s"}},
		{"missing", nil, running(), []string{"container main of request r: the runtime does not have it", "container side of request r: the container before is not there"}},
		{"stopping", nil, running("main m1", "side s1"), []string{"container side of request r: one container is stopped at a time"}},
		{"ordered", []edit{ordered, states("main Recreating killed")}, running("main m2", "side s1"), []string{
			"container main of request r: it is not ready, as far as a controller has told",
			"container side of request r: containers are recreated one after the other, and the one before is not back"}},
		{"exited", []edit{containers(meant("main", "m1"))}, running("main m1 EXITED"), []string{"container main of request r: the kubelet has to start it again"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.node.Requests = requests(newRequest("r", test.with...))
			var got []string
			for _, wait := range NewPlan(test.node).Waiting {
				got = append(got, wait.String())
				if wait.Reason.Rule == "" || wait.Since.After(now) {
					t.Errorf("%s: by the rule %q since %s", wait, wait.Reason.Rule, wait.Since)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
		})
	}
}

// turned says that a request waits, and that its turn came so long before now.
func turned(ago time.Duration) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		phase(pending)(r)
		r.Annotations["turn"] = ago.String()
	}
}

// A request that the agent has not begun is answered in time.
func TestLate(t *testing.T) {
	for _, test := range []struct {
		name  string
		with  edit
		want  bool
		again time.Duration
	}{
		{"a new one", at(now), false, answerAfter},
		{"one of the future, by another clock", at(now.Add(time.Hour)), false, answerAfter},
		{"not yet", at(now.Add(-4 * time.Second)), false, 6 * time.Second},
		{"now", at(now.Add(-answerAfter)), true, 0},
		{"answered", phase(pending), false, 0},
		{"it waited for another one, and its turn has come", turned(10 * time.Second), true, 0},
		{"its turn has just come", turned(4 * time.Second), false, 6 * time.Second},
		{"it says so already", func(r *v1alpha1.ContainerRecreateRequest) {
			turned(time.Minute)(r)
			r.Status.Message = waitsForAWorker + "it"
		}, false, 0},
		{"begun", phase(recreating), false, 0},
		{"over", isOver, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Snapshot{Requests: requests(newRequest("r", test.with)), Stopping: "shop (3)", Now: now}
			if ago, err := time.ParseDuration(s.Requests[0].Annotations["turn"]); err == nil {
				s.Seen = map[types.UID]Seen{s.Requests[0].UID: {Request: now.Add(-time.Hour), Turn: now.Add(-ago)}}
			}
			answer, again := s.late()
			if (answer != nil) != test.want || again != test.again {
				t.Errorf("answer %v, again after %s", answer, again)
			}
			if answer != nil && answer.Status.Phase != pending {
				t.Errorf("answered with %q", answer.Status.Phase)
			}
			if answer != nil && answer.Status.Message != "waits for a worker of the node agent: containers of other pods are being stopped, of shop (3)" {
				t.Errorf("CRR-5.1: answered with %q", answer.Status.Message)
			}
			if answer != nil && answer.Status.ObservedGeneration != answer.Request.Generation {
				t.Errorf("CRR-6: %s", showWrite(answer))
			}
		})
	}
}

// CRR-5.5.2: the grace period is the request's own, and 30 s without one.
func TestGracePeriod(t *testing.T) {
	for _, test := range []struct {
		name    string
		request []edit
		want    int64
	}{
		{"none", nil, 30},
		{"no strategy at all", []edit{func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.Strategy = nil }}, 30},
		{"given", []edit{grace(5)}, 5},
		{"zero", []edit{grace(0)}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := running("main m1")
			s.Requests = requests(newRequest("r", test.request...))
			if got, err := s.toStop(&Stop{Container: "main", ID: "m1"}); err != nil || got.GraceSeconds != test.want {
				t.Errorf("%d s, want %d s; error %v", got.GraceSeconds, test.want, err)
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
