// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func testControlPlaneIsKilledInMidRollout(t *testing.T, b *bed) {
	for _, component := range []string{cluster.APIServer, cluster.Etcd} {
		for _, how := range []v1alpha1.CloneSetUpdateStrategyType{inPlace, reCreate} {
			t.Run(component+"/"+string(how), func(t *testing.T) {
				const tries = 5
				for range tries {
					if b.killedInMidRollout(t, component, how) {
						return
					}
				}
				t.Errorf("expected one kill of %d in the middle of a rollout, observed that all pods were updated each time", tries)
			})
		}
	}
}

// killedInMidRollout kills a component of the control plane at any moment of a rollout. It tells whether the rollout
// was not over by then: on a busy machine, what is observed of it comes late.
func (b *bed) killedInMidRollout(t *testing.T, component string, how v1alpha1.CloneSetUpdateStrategyType) bool {
	t.Helper()
	s := b.cloneSetFixture(t)
	s.run(cloneSet("web", 12, strategy(how, 3)))
	before := s.owned("web")
	s.expect("web", 9, 12)
	s.edit("web", image("web:2"))
	threshold, after := 1+rand.IntN(6), time.Duration(rand.IntN(300))*time.Millisecond
	s.Await(fmt.Sprintf("%d updated pods", threshold), func() string {
		if n := s.updated("web"); n < threshold {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	time.Sleep(after) // not to wait for something, but to strike at any moment
	if err := s.Control.Kill(component); err != nil {
		s.Fatalf("kill %s: %v", component, err)
	}
	s.Logf("killed %s %v after %d pods were updated; %d of 12 pods in service", component, after, s.updated("web"), s.inService("web"))
	if err := s.Control.Restart(s.Context(), component); err != nil {
		s.Fatalf("restart %s: %v", component, err)
	}
	inTheMiddle := s.updated("web") < 12
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedOnce(before, how)
	return inTheMiddle
}

// An API server that hangs answers nothing, and its connections stay open.
func testAPIServerHangsInMidRollout(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.run(cloneSet("web", 12, strategy(inPlace, 3)))
	before := s.owned("web")
	s.expect("web", 9, 12)
	s.edit("web", image("web:2"))
	s.Await("4 updated pods", func() string {
		if n := s.updated("web"); n < 4 {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	if err := s.Control.Pause(cluster.APIServer); err != nil {
		s.Fatalf("pause the API server: %v", err)
	}
	time.Sleep(3 * time.Second) // the length of the fault
	if err := s.Control.Resume(cluster.APIServer); err != nil {
		s.Fatalf("resume the API server: %v", err)
	}
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedOnce(before, inPlace)
}

// Creations whose answers are lost are not made twice, whatever a user writes meanwhile.
func testAPIServerIsKilledInMidScaleUp(t *testing.T, b *bed) {
	const wanted = 100
	s := b.cloneSetFixture(t)
	s.run(cloneSet("web", 1))
	s.expect("web", 0, wanted)
	s.edit("web", replicas(wanted))
	threshold := 2 + rand.IntN(60)
	s.Await(fmt.Sprintf("%d pods", threshold), func() string {
		if n := len(s.owned("web")); n < threshold {
			return fmt.Sprintf("%d", n)
		}
		return ""
	})
	if err := s.Control.Kill(cluster.APIServer); err != nil {
		s.Fatalf("kill the API server: %v", err)
	}
	s.Logf("killed the API server after %d of %d pods were created", len(s.owned("web")), wanted)
	if err := s.Control.Restart(s.Context(), cluster.APIServer); err != nil {
		s.Fatalf("restart the API server: %v", err)
	}
	edits := 0
	s.AwaitAsking("the pods are created while the CloneSet is edited", func() string {
		edits++
		s.edit("web", func(set *v1alpha1.CloneSet) {
			set.Annotations = map[string]string{"example.com/count": fmt.Sprint(edits)}
		})
		if n := len(s.owned("web")); n < wanted {
			return fmt.Sprintf("%d of %d", n, wanted)
		}
		return ""
	})
	s.awaitStatus("web", "all pods", func(set *v1alpha1.CloneSet) string {
		if n := len(s.owned("web")); n != wanted || set.Status.Replicas != wanted {
			return fmt.Sprintf("%d, status %+v", n, set.Status)
		}
		return ""
	})
	s.keptBudget("web")
	s.deletedOnly()
	s.created(wanted)
}
