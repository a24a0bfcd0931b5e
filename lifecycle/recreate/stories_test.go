// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. "start" starts a manager; the option "skew" sets its clock ahead. "pod" and
// "request" create them, with changes of testdata/words.yaml. "work" has kubelet and agent work for a time, and "alone" the kubelet. "node" says
// how long containers take to be ready, or that those which are started again never are. "phase" has the agent write a phase, and nothing more.
// "state" shows requests and pods, and "held" since when something is told to hold a request up. "once" has something happen just before the
// manager sends a part of its writes. "replay" has an agent of OpenKruise work on the request restart, see story.replay. "strip" takes all finalizers from a request.
// "patch-request" changes it by a patch, and "heartbeats" is fixture.Cluster.Heartbeats. "counted" tells of the reconciles since "count".
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", requestResource, func(c *fixture.Cluster) *fixture.Story {
		s := newStory(c)
		quiet := func(act func(words []string)) func(...string) string {
			return func(words ...string) string { act(words); synctest.Wait(); return "" }
		}
		return &fixture.Story{Stable: true, Restart: func() {},
			Option: func(_, value string) { s.skew = patches.Duration(s.T, value) },
			Start: func() (*fixture.Reconciles, func()) {
				return &s.reconciles, s.manager()
			},
			Further: map[string]func(...string) string{
				"pod":            quiet(func(words []string) { s.pod(words[0], words[1:]...) }),
				"request":        quiet(func(words []string) { s.create(words[0], "web-0", words[1:]...) }),
				"delete-request": quiet(func(words []string) { s.deleteRequest(words[0]) }),
				"strip":          quiet(func(words []string) { s.patchRequest(words[0], `{"metadata":{"finalizers":null}}`) }),
				"work":           quiet(func(words []string) { s.work(words[0], "500ms", s.node.agent) }),
				"alone":          quiet(func(words []string) { s.work(words[0], "10s", func() {}) }),
				"node": quiet(func(words []string) {
					if s.node.Broken = words[0] == "broken"; !s.node.Broken {
						s.node.Startup = patches.Duration(s.T, words[0])
					}
				}),
				"phase": quiet(func(words []string) {
					r := s.get(words[0])
					r.Status.Phase = v1alpha1.ContainerRecreateRequestPhase(words[1])
					s.node.write(r)
				}),
				"patch-request": quiet(func(words []string) { s.patchRequest(words[0], words[1], words[2:]...) }),
				"heartbeats":    quiet(func([]string) { s.Heartbeats() }),
				"count":         quiet(func([]string) { s.counted = s.reconciles.Count() }),
				"counted":       func(...string) string { return fmt.Sprintln(s.reconciles.Count() - s.counted) },
				"once":          quiet(func(words []string) { s.once(words[0], words[1]) }),
				"state":         func(...string) string { return s.states() },
				"replay":        func(words ...string) string { return s.replay(words[0], "restart") },
				"held":          s.held,
			}}
	})
}

// states shows requests and pods, a line each.
func (s *story) states() (out string) {
	s.node.kubelet()
	out, s.happened = s.happened, ""
	list, err := s.requests.List(s.T.Context(), metav1.ListOptions{})
	s.Must(err)
	for i := range list.Items {
		r := &list.Items[i]
		out += fmt.Sprintf("%s: %s", r.Name, s.state(r.Name))
		if others := slices.DeleteFunc(r.Finalizers, func(f string) bool { return f == finalizer }); len(others) > 0 {
			out += ", by " + strings.Join(others, " ")
		}
		out += "\n"
	}
	for _, pod := range s.Pods() {
		restarts := map[string]int32{}
		for _, c := range pod.Status.ContainerStatuses {
			restarts[c.Name] = c.RestartCount
		}
		out += fmt.Sprintf("%s: in service %t, restarts", pod.Name, readiness.Ready(&pod))
		for _, name := range slices.Sorted(maps.Keys(restarts)) {
			out += fmt.Sprintf(" %s %d", name, restarts[name])
		}
		for _, key := range readiness.Keys(&pod) {
			out += fmt.Sprintf(", for %s %s", key.UserAgent, key.Key)
		}
		out += "\n"
	}
	return out
}

// held shows what the message tells, and since when.
func (s *story) held(words ...string) string {
	message := s.get(words[0]).Status.Message
	if told := heldup.OfText(message); told != nil {
		return message + "\n"
	}
	return "nothing\n"
}

// once has something happen just before the manager sends a write. Such a write adds the finalizer, takes the pod out of service, or tells when.
// Others put the pod back, or remove the finalizer.
func (s *story) once(write, what string) {
	const requests, pods = "patch containerrecreaterequests", "patch pods/status"
	of := map[string][2]string{"add": {requests, "finalizers"}, "take-out": {pods, `"False"`}, "tell": {requests, `unready-acquired":"2`},
		"put-back": {pods, `"True"`}, "remove": {requests, `"finalizers":[]`}}[write]
	done := false
	s.FailBefore(func(r fakecluster.Request) error {
		if done || r.User != fixture.ControllerUser || r.String() != of[0] || !strings.Contains(string(r.Body), of[1]) {
			return nil
		}
		done = true
		switch what {
		case "touch":
			_, err := s.Kube.CoreV1().Pods(fixture.Web.Namespace).Patch(s.T.Context(), "web-0", types.MergePatchType, []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`), metav1.PatchOptions{})
			s.Must(err)
		case "audit":
			s.patchRequest("restart", `{"metadata":{"finalizers":["`+strings.Join(append(s.get("restart").Finalizers, "example.com/audit"), `","`)+`"]}}`)
		case "delete":
			s.Must(s.requests.Delete(s.T.Context(), "restart", metav1.DeleteOptions{}))
		}
		s.happened = fmt.Sprintf("%s came before %s\n", what, write)
		return nil
	})
}

// patchRequest changes a request as a user does. It may be called in the middle of a request.
func (s *story) patchRequest(name, patch string, subresources ...string) {
	s.T.Helper()
	_, err := s.requests.Patch(s.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	s.Must(err)
}
