// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// before has something happen once, just before the manager's first request that
// the text describes and whose body has the part.
func (s *story) before(request, part string, happens func()) (happened func() bool) {
	done := false
	s.FailBefore(func(r fakecluster.Request) error {
		if !done && r.User == fixture.ControllerUser && r.String() == request && strings.Contains(string(r.Body), part) {
			done = true
			happens()
		}
		return nil
	})
	return func() bool { return done }
}

// patchRequest changes a request as a user does. It may be called in the middle
// of a request.
func (s *story) patchRequest(name, patch string) {
	s.T.Helper()
	_, err := s.requests.Patch(s.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.Must(err)
}

// Another writer is faster than the manager, wherever that is possible. The manager tries
// again on what there is by then, and loses nothing that the other has written.
func TestConflicts(t *testing.T) {
	touchPod := func(s *story) {
		_, err := s.Kube.CoreV1().Pods(fixture.Web.Namespace).Patch(s.T.Context(), "web-0", types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"touched":"yes"}}}`), metav1.PatchOptions{})
		s.Must(err)
	}
	addFinalizer := func(s *story) {
		have := s.get("restart").Finalizers
		s.patchRequest("restart", `{"metadata":{"finalizers":["`+strings.Join(append(have, "example.com/audit"), `","`)+`"]}}`)
	}
	const requests, pods = "patch containerrecreaterequests", "patch pods/status"
	for _, test := range []struct {
		name, request, part string
		happens             func(*story)
		finalizer           string // in the end
	}{
		{"a finalizer comes before ours is added", requests, "finalizers", addFinalizer, "example.com/audit"},
		{"the pod changes before the key is added", pods, `"False"`, touchPod, ""},
		{"a finalizer comes before the time is told", requests, "unready-acquired\":\"2", addFinalizer, "example.com/audit"},
		{"the pod changes before the key is removed", pods, `"True"`, touchPod, ""},
		{"a finalizer comes before ours is removed", requests, `"finalizers":[]`, addFinalizer, "example.com/audit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(s *story) {
				s.pod("web-0")
				defer s.manager()()
				happened := s.before(test.request, test.part, func() { test.happens(s) })
				s.create("restart", "web-0", unready(2))
				s.work(30 * time.Second)
				if !happened() {
					s.T.Fatal("the story did not come so far")
				}
				s.must("restart", map[bool]string{true: "Completed, main Succeeded, held", false: "Completed, main Succeeded"}[test.finalizer != ""])
				s.inService("web-0", true)
				if got := strings.Join(s.get("restart").Finalizers, " "); got != test.finalizer {
					s.T.Errorf("finalizers %q, want %q", got, test.finalizer)
				}
			})
		})
	}
}

// A request that is deleted before the manager's write leaves nothing on its pod.
func TestDeletedBeforeAWrite(t *testing.T) {
	for _, part := range []string{"finalizers", "unready-acquired\":\"2"} {
		play(t, func(s *story) {
			s.pod("web-0")
			defer s.manager()()
			happened := s.before("patch containerrecreaterequests", part, func() {
				s.Must(s.requests.Delete(s.T.Context(), "restart", metav1.DeleteOptions{}))
			})
			s.create("restart", "web-0", unready(2))
			s.work(30 * time.Second)
			if !happened() {
				s.T.Fatal("the story did not come so far")
			}
			s.must("restart", "gone")
			s.inService("web-0", true)
		})
	}
}

// The cache of pods is behind. A request for a pod that the cache does not have is not
// over. The manager takes the pod out of service as it should.
func TestStaleCacheOfPods(t *testing.T) {
	play(t, func(s *story) {
		defer s.manager()()
		s.Hold("pods")
		s.pod("web-0")
		s.create("restart", "web-0", unready(2))
		s.work(time.Second)
		s.must("restart", "Recreating, active, held")
		s.inService("web-0", false)
		s.Release("pods")
		s.work(20 * time.Second)
		s.must("restart", "Completed, main Succeeded")
		s.inService("web-0", true)
	})
}

// The cache of pods is behind: that it shows no key does not mean that there is
// none. A manager before this one has put it there.
func TestStaleCacheWithoutTheKey(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		s.create("restart", "web-0", held())
		defer s.manager()()
		s.Hold("pods")
		s.PatchPod("web-0", `{"status":{"conditions":[{"type":"KruisePodReady","status":"False",
			"message":"[{\"userAgent\":\"ContainerRecreateRequest\",\"key\":\"default/restart\"}]"}]}}`, "status")
		s.inService("web-0", false)
		s.deleteRequest("restart")
		s.Sleep("1s")
		s.must("restart", "gone")
		s.sent("1 get pods", "1 patch containerrecreaterequests", "1 patch pods/status")
		s.inService("web-0", true)
	})
}

// The finalizer goes alone if no key is left, and those of others stay.
func TestNothingToRelease(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		s.create("restart", "web-0", unready(60), held("example.com/audit"))
		s.deleteRequest("restart")
		defer s.manager()()
		s.Sleep("1s")
		s.must("restart", ", active, held") // by the other finalizer
		s.sent("1 get pods", "1 patch containerrecreaterequests")
		s.patchRequest("restart", `{"metadata":{"finalizers":null}}`)
		s.Sleep("1s")
		s.must("restart", "gone")
		s.sent()
	})
}

// What does not matter costs no reconcile and no request.
func TestQuiet(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(3600))
		s.work(2 * time.Second)
		s.ForgetRequests()
		reconciles := s.reconciles.Count()
		s.Heartbeats()
		s.PatchPod("web-0", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
		_, err := s.requests.Patch(s.T.Context(), "restart", types.MergePatchType,
			[]byte(`{"status":{"containerRecreateStates":[{"name":"main","phase":"Pending"}]}}`), metav1.PatchOptions{}, "status")
		s.Must(err)
		s.patchRequest("restart", `{"metadata":{"labels":{"a":"b"},"annotations":{"a":"b"}}}`)
		s.Sleep("10s")
		s.sent()
		if n := s.reconciles.Count() - reconciles; n != 0 {
			s.T.Errorf("%d reconciles for what does not matter", n)
		}
	})
}
