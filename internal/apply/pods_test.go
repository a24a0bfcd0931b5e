// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"

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
