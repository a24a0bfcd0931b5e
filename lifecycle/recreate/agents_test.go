// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// replay sends the requests of an agent, as they were written down, to the status of a request. It returns what the manager has
// reported of the containers before each of them.
func (s *story) replay(file, name string) (reported []string) {
	s.T.Helper()
	text, err := os.ReadFile("testdata/agents/" + file)
	s.Must(err)
	for line := range strings.Lines(string(text)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.ReplaceAll(rest, "NOW", time.Now().UTC().Format(time.RFC3339))
		switch verb {
		case "", "#":
			continue
		case "after":
			s.Sleep(rest)
			continue
		case "restart":
			s.node.runtime[string(s.getPod("web-0").UID)+rest].exited = true
			s.node.kubelet()
			continue
		}
		r := s.get(name)
		reported = append(reported, r.Annotations[syncAnnotation])
		if verb == "update" {
			r.Status = v1alpha1.ContainerRecreateRequestStatus{}
			s.Must(json.Unmarshal([]byte(rest), &r.Status))
			_, err = s.requests.UpdateStatus(s.T.Context(), r, metav1.UpdateOptions{})
		} else {
			_, err = s.requests.Patch(s.T.Context(), name, types.MergePatchType, []byte(rest), metav1.PatchOptions{}, "status")
		}
		s.Must(err)
		synctest.Wait()
	}
	return reported
}

// Agents of OpenKruise beside podwright's manager: it reports what they wait for, ends what they have ended, and nothing else.
// (CRR-4.1, CRR-M1.3, CRR-M3)
func TestAgentsOfOpenKruise(t *testing.T) {
	const before, started = "", `[{"name":"main","ready":true,"restartCount":1,"containerID":"containerd://main-1"}]`
	for _, test := range []struct {
		name, file string
		edits      []func(*v1alpha1.ContainerRecreateRequest)
		reported   []string
		end        string
	}{
		{"CRR-4.1: one that restarts", "1.4.txt", nil, []string{"", before, before, started, started}, "Completed, main Succeeded"},
		{"CRR-M1.3: one that fails", "1.4-fails.txt", nil, []string{"", before, before, before}, "Completed, main Failed"},
		{"CRR-M3: Pending is an answer", "1.4-waits.txt", nil, []string{"", "", before, before, started, started}, "Completed, main Succeeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(s *story) {
				s.pod("web-0")
				defer s.manager()()
				s.create("restart", "web-0", test.edits...)
				if diff := cmp.Diff(test.reported, s.replay(test.file, "restart")); diff != "" {
					t.Errorf("reports before each request (-want +got):\n%s", diff)
				}
				s.must("restart", test.end)
				s.inService("web-0", true)
			})
		})
	}
}

// An agent waits until the pod is out of service. The pod is back when the agent has ended. (CRR-4.2)
func TestAgentsOfOpenKruiseOutOfService(t *testing.T) {
	play(t, func(s *story) {
		s.pod("web-0")
		defer s.manager()()
		s.create("restart", "web-0", unready(0))
		s.Sleep("1s")
		s.inService("web-0", true) // the agent has not begun
		s.replay("1.4.txt", "restart")
		s.must("restart", "Completed, main Succeeded")
		s.inService("web-0", true)
		if s.get("restart").Annotations[acquired] == "" {
			t.Error("no time since which the pod is out of service: the agent waits for it")
		}
	})
}
