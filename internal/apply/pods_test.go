// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

func TestCreationSlowsDown(t *testing.T) {
	for _, test := range []struct {
		name      string
		generated bool
		requests  int
	}{
		{"a generated name is not the reason", true, 1},
		{"a name may be the reason, so another one is tried", false, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t)
			s.GeneratedNames = test.generated
			creations := make([]rollout.PodCreation, 100)
			for i := range creations {
				creations[i].Pod = pod(fmt.Sprintf("web-%d", i))
			}
			s.fail("create pods", errQuota)
			if err := s.createPods(creations...); !apierrors.IsForbidden(Separate(err)[0]) || len(s.requests()) != test.requests {
				t.Errorf("%d requests, error %v: want %d that fail", len(s.requests()), err, test.requests)
			}
			s.FailBefore(nil)
			if err := s.createPods(creations...); err != nil {
				t.Error(err)
			}
			if recorded := len(s.events.All()); recorded != test.requests+eventsPerReason {
				t.Errorf("%d events of %d failures and 100 successes, want 25 of these", recorded, test.requests)
			}
		})
	}
}

func label(key, value string) *podpatch.Patch {
	p := &podpatch.Patch{}
	p.SetLabel(key, value)
	return p
}

func TestMessages(t *testing.T) {
	s := newFixture(t)
	s.Message = func(o Outcome) string {
		if o.Claim != "" {
			return fmt.Sprintf("%s Claim %s Pod %s in StatefulSet %s: %v", o.Action, o.Claim, o.Pod, o.Workload, o.Err)
		}
		return fmt.Sprintf("%s Pod %s in StatefulSet %s: %v, 100%%", o.Action, o.Pod, o.Workload, o.Err)
	}
	creation := rollout.PodCreation{Pod: pod("web-0"), Claims: []*corev1.PersistentVolumeClaim{claim("data-web-0")}}
	s.must(s.createPods(creation))
	want := []string{
		"Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web: <nil>",
		"Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web: <nil>, 100%",
	}
	if diff := cmp.Diff(want, s.events.All()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.Recorder = nil
	s.must(s.createPods(rollout.PodCreation{Pod: pod("web-1")}))
	if len(s.events.All()) != 2 {
		t.Errorf("without a recorder, it records %q", s.events.All())
	}
}
