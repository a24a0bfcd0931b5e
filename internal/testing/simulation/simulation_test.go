// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// CT-12: a process that waits is excused if others undo what it writes. It is excused for as long as the rule has it wait, and
// no longer.
func TestRivalry(t *testing.T) {
	one, other := &kind{}, &kind{}
	a, b, stranger := &Process{kind: one}, &Process{kind: one}, &Process{kind: other}
	h := &history{}
	write := func(by *Process, key string) { h.noteWriter(by, pods, key) }
	in := func(d time.Duration) bool { return a.rivalry.explains(a.rivalry.last.Add(d)) }
	write(a, "web")
	write(a, "web")
	write(stranger, "web")
	write(a, "other")
	write(b, "web")
	if a.rivalry.times != 0 {
		t.Errorf("%d changes of what a process wrote itself, or another controller", a.rivalry.times)
	}
	write(b, "other")
	if a.rivalry.times != 1 || in(0) {
		t.Errorf("after %d change of another process it is to write at once", a.rivalry.times)
	}
	write(a, "web")
	write(b, "web")
	if b.rivalry.times != 1 || !in(firstRivalry) || in(firstRivalry+late+1) || a.rivalry.explains(time.Time{}) {
		t.Errorf("%d changes, a wait of a second is explained: %v; of more: %v; for ever: %v", a.rivalry.times, in(firstRivalry), in(firstRivalry+late+1), a.rivalry.explains(time.Time{}))
	}
	write(a, "web")
	write(b, "web")
	if !in(2*firstRivalry) || in(2*firstRivalry+late+1) {
		t.Errorf("%d changes, a wait of two seconds is explained: %v; of more: %v", a.rivalry.times, in(2*firstRivalry), in(2*firstRivalry+late+1))
	}
	for range 60 {
		write(a, "web")
		write(b, "web")
	}
	if !in(lastRivalry) || in(lastRivalry+late+1) {
		t.Errorf("%d changes, a wait of five minutes is explained: %v; of more: %v", a.rivalry.times, in(lastRivalry), in(lastRivalry+late+1))
	}
	a.rivalry.add(a.rivalry.last.Add(overRivalry))
	if a.rivalry.times != 1 {
		t.Errorf("%d changes, and the others are long ago", a.rivalry.times)
	}
}

// Nodes have place for a pod that requests something, and none for one that requests more than any node has.
func TestNodesHavePlace(t *testing.T) {
	for cpu, want := range map[string]bool{"0": true, "50m": true, "64": true, "65": false} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Name: "log", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}}
		if got := scheduler.Takes(newNode("n1", "a", "b"), spec); got != want {
			t.Errorf("a node takes a pod that requests %s of cpu: %v, want %v", cpu, got, want)
		}
	}
}

// Who backs off after a failure gets to try again before all is taken to be settled, unless what it fails for stays.
func TestPatience(t *testing.T) {
	held := Controller{Held: func() bool { return true }}
	for _, tt := range []struct {
		name     string
		process  Process
		policies []policy
		draining bool
		want     time.Duration
	}{
		{"no request has failed", Process{}, nil, false, time.Minute},
		{"one has failed", Process{failures: 1}, nil, false, quietFor},
		{"one has failed, and its writer is told to wait", Process{failures: 1, controller: held}, nil, false, time.Minute},
		{"one has failed, while a policy stands", Process{failures: 1}, []policy{{}}, false, time.Minute},
		{"users have pushed", Process{}, nil, true, quietFor},
	} {
		h := &history{workload: &Subject{Patience: time.Minute}, processes: []*Process{&tt.process}, policies: tt.policies}
		tt.process.history = h
		if tt.draining {
			h.drainedBy = time.Now()
		}
		if got := h.patience(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestLearn: of its own write a process knows what the write changed, and not
// what others had changed before.
func TestLearn(t *testing.T) {
	pod := func(labels map[string]string, owner string, conditions ...corev1.PodConditionType) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "u", Labels: labels}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Name: owner}}
		}
		for _, t := range conditions {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t})
		}
		return p
	}
	known := pod(map[string]string{"a": "1", "old": "x"}, "web")
	before := pod(map[string]string{"a": "2", "old": "x"}, "", "Ready") // a user has changed a, and disowned it
	after := pod(map[string]string{"a": "2", "new": "y"}, "", "Ready", "InPlaceUpdateReady")
	k := &knowledge{objects: map[string]map[string]Object{pods: {"web-0": known}}}

	k.learn(pods, &change{object: after, before: before})
	want := pod(map[string]string{"a": "1", "new": "y"}, "web", "InPlaceUpdateReady")
	if diff := cmp.Diff(Object(want), k.objects[pods]["web-0"]); diff != "" {
		t.Errorf("after a patch (-want +got):\n%s", diff)
	}
	k.learn(pods, &change{object: after, before: after, gone: true})
	if left := k.objects[pods]["web-0"]; left != nil {
		t.Errorf("after a deletion it knows %v", left)
	}
	k.learn(pods, &change{object: after})
	if diff := cmp.Diff(Object(after), k.objects[pods]["web-0"]); diff != "" {
		t.Errorf("after a creation (-want +got):\n%s", diff)
	}
}

// TestReplica moves a cache through the past of a server, event by event and at once.
func TestReplica(t *testing.T) {
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: version}}
	}
	r := &record{resource: pods, empty: func() Object { return &corev1.Pod{} }, objects: map[string]Object{"b": pod("b", "5")}}
	r.changes = []change{
		{version: 2, object: pod("a", "2")},
		{version: 3, object: pod("a", "3"), before: pod("a", "2"), gone: true},
		{version: 5, object: pod("b", "5")},
	}
	c := newReplica(r)
	state := func() string {
		var names []string
		for _, p := range sorted[*corev1.Pod](c.view()) {
			names = append(names, p.Name)
		}
		return strings.Join(names, " ") + " at " + c.informer.GetStore().LastStoreSyncResourceVersion()
	}
	var got []string
	step := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, state())
	}
	for range 2 {
		step(c.advance())
	}
	c.bookmark(9) // it is not that far
	step(nil)
	step(c.advance())
	c.bookmark(9)
	step(nil)
	again := newReplica(r)
	c = again
	step(c.relist(7))
	want := []string{"a at 2", " at 3", " at 3", "b at 5", "b at 9", "b at 7"}
	if diff := cmp.Diff(want, got); diff != "" || c.behind() != 0 {
		t.Errorf("%d behind, states (-want +got):\n%s", c.behind(), diff)
	}
}

// A client waits for an answer as long as its context lasts; without a deadline, until it comes.
func TestRequestsEndInTime(t *testing.T) {
	for _, test := range []struct {
		name        string
		limit, want time.Duration
		err         error
	}{
		{"without a deadline", 0, time.Minute, nil},
		{"the answer comes in time", 2 * time.Minute, time.Minute, nil},
		{"the answer comes too late", 5 * time.Second, 5 * time.Second, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			served := false
			client := inTime(roundTripper(func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Minute)
				served = true
				return &http.Response{}, nil
			}))
			ctx, start := t.Context(), time.Now()
			if test.limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.limit)
				defer cancel()
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fakecluster", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.RoundTrip(request); !errors.Is(err, test.err) || time.Since(start) != test.want {
				t.Errorf("%s: error %v after %v, want %v after %v", test.name, err, time.Since(start), test.err, test.want)
			}
			time.Sleep(2 * time.Minute)
			if synctest.Wait(); !served {
				t.Errorf("%s: the server has not come to the request", test.name)
			}
		})
	}
}
