// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// IMG-3.6: whose turn it is. Every case has two slots. Names of images begin with the
// namespaces that own them. A name with + at its end is being pulled, and one with a
// colon and a number has failed so often. They are in the order of their age.
func TestPlanSharesSlots(t *testing.T) {
	for _, test := range []struct{ name, tasks, start string }{
		{"the oldest first", "a/1 a/2 a/3", "a/1 a/2"},
		{"in turn", "a/1 a/2 b/3 b/4", "a/1 b/3"},
		{"the namespace that has fewer pulls", "a/1+ a/2 b/3", "b/3"},
		{"one that has none may have one beyond the limit", "a/1+ a/2+ a/3 b/4 b/5", "b/4"},
		{"each of them", "a/1+ a/2+ b/4 c/5", "b/4 c/5"},
		{"but no more than twice as many", "a/1+ a/2+ b/3+ c/4 d/5", "c/4"},
		{"at the limit, the others wait", "a/1+ b/2+ a/3 b/4", ""},
		{"what has failed less", "a/1:3 a/2:1 a/3:2", "a/2 a/3"},
		{"a failed task of a namespace without pulls is before the second of another", "a/1:9 b/2 b/3", "b/2 a/1"},
		{"a task of two namespaces has the turn of either", "a/1+ ab/2 a/3", "ab/2"},
		{"of the other, too", "b/1+ ab/2 b/3", "ab/2"},
		{"and counts for both", "ab/1+ b/2 c/3", "c/3"},
		{"nobody is a namespace, too", "a/1+ a/2+ -/3 -/4", "-/3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &Snapshot{NodeImage: newNodeImage(), Images: []*criv1.Image{}, Concurrency: 2, Now: now}
			for i, word := range strings.Fields(test.tasks) {
				name, running := strings.CutSuffix(word, "+")
				name, failures, failed := strings.Cut(name, ":")
				owners, _, _ := strings.Cut(strings.TrimPrefix(name, "-"), "/")
				wants(strings.TrimPrefix(name, "-/"), "1", ownedBy(strings.Split(owners, "")...), createdAgo(time.Hour-time.Duration(i)*time.Minute))(s.NodeImage)
				pull := Pull{Task: Task{strings.TrimPrefix(name, "-/"), "1"}, Version: 1, Since: now.Add(-time.Minute), Running: running}
				if failed {
					_, _ = fmt.Sscan(failures, &pull.Failures)
					pull.Err, pull.Ended = fmt.Errorf("no route"), now.Add(-time.Hour)
				}
				if running || failed {
					s.Pulls = append(s.Pulls, pull)
				}
			}
			s.Limits.BackoffLimit = 9
			for _, image := range s.NodeImage.Spec.Images {
				backoffLimit(9)(&image.Tags[0])
			}
			var started []string
			plan := NewPlan(s)
			for _, start := range plan.Start {
				if name := start.Image; strings.Contains(name, "/") {
					started = append(started, name)
				} else {
					started = append(started, "-/"+name)
				}
			}
			if diff := cmp.Diff(test.start, strings.Join(started, " ")); diff != "" {
				t.Errorf("started (-want +got):\n%s", diff)
			}
			if want := len(strings.Fields(test.tasks)) - len(s.Pulls) - len(plan.Start); !strings.Contains(test.tasks, ":") && len(plan.Waiting) < want {
				t.Errorf("%d tasks wait, want %d: %v", len(plan.Waiting), want, plan.Waiting)
			}
		})
	}
}

// IMG-3.6: a task that waits for its turn says whose pulls it waits for.
func TestPlanSaysWhoWaitsForWhom(t *testing.T) {
	s := &Snapshot{NodeImage: newNodeImage(), Images: []*criv1.Image{}, Concurrency: 2, Now: now}
	for i, task := range []string{"a/1", "a/2", "b/3", "b/4"} {
		wants(task, "1", ownedBy(task[:1]), createdAgo(time.Hour-time.Duration(i)*time.Minute))(s.NodeImage)
	}
	for _, running := range []string{"a/1", "a/2", "b/3"} {
		s.Pulls = append(s.Pulls, Pull{Task: Task{running, "1"}, Version: 1, Since: now.Add(-time.Minute), Running: true})
	}
	want := []rollout.Wait{{Subject: rollout.Subject{Kind: "image", Name: "b/4:1"}, Since: now.Add(-57 * time.Minute), Reason: &rollout.Reason{
		Rule: ruleConcurrency, Limit: 2, Observed: 3, Message: "3 other pulls are under way, which is as many as may be: of a (2), b (1)"}}}
	if diff := cmp.Diff(want, NewPlan(s).Waiting); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
}

// IMG-3.6: the registry of five tasks of one namespace does not answer. They hold up no
// other task, and none of the five waits for good. Their number is bounded.
func TestStorySilentRegistry(t *testing.T) {
	play(t, func(n *node) {
		var lock sync.Mutex
		most, running := 0, 0
		count := func(by int) {
			lock.Lock()
			defer lock.Unlock()
			running += by
			most = max(most, running)
		}
		n.runtime.Pull = func(ctx context.Context, request *criv1.PullImageRequest) error {
			count(1)
			defer count(-1)
			if strings.HasPrefix(request.GetImage().GetImage(), "silent.example/") {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		for i := range 9 {
			n.edit(wants(fmt.Sprint("silent.example/", i), "1", timeout(1<<30), backoffLimit(1<<30), ownedBy("evil")))
		}
		n.start()
		n.Sleep(time.Minute)
		for i := range 3 {
			image := fmt.Sprint("quay.io/", i)
			n.edit(wants(image, "1", ownedBy("bank")))
			n.Sleep(10 * time.Second)
			if n.nodeImage().Status.ImageStatuses[image].Tags[0].Phase != "Succeeded" {
				n.Errorf("image %d of another namespace is not pulled within 10 s", i)
			}
		}
		if most != 6 {
			n.Errorf("%d pulls at a time, want the 5 of Concurrency and one", most)
		}
		n.Sleep(48 * time.Hour)
		if status := n.nodeImage().Status; status.Failed != 9 || status.Pulling != 0 {
			n.Errorf("IMG-3.7: after two days %d tasks have failed and %d go on", status.Failed, status.Pulling)
		}
	})
}
