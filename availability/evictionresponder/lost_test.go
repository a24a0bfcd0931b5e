// SPDX-License-Identifier: Apache-2.0

package evictionresponder_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// EVR-8: an eviction whose answer is lost, while the cache is behind, is looked for and not asked for again.
func TestLostAnswer(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 0)
		o.FailAfter(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "create pods/eviction" {
				return fixture.ErrLost
			}
			return nil
		})
		o.Sleep("1s")
		o.ForgetRequests()
		o.Hold("pods")
		o.evict("web")
		o.Sleep("1m")
		o.sent("1 create pods/eviction", "1 get pods", "1 patch evictions/status")
		o.Release("pods")
		o.Sleep("1s")
		o.says("web", "the pod is being deleted")
	})
}

// EVR-11: another Eviction has the name by the time of the report.
func TestReportToAnotherEviction(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		o.pod("other", 0)
		once, happened := fixture.Once(fixture.Fail("patch evictions/status", fixture.ErrInternal))
		o.FailBefore(func(r fakecluster.Request) error {
			if once(r) != nil { // no error, but another Eviction
				o.Hold("evictions")
				o.Must(o.evictions.Delete(t.Context(), "web", metav1.DeleteOptions{}))
				o.evictAs("web", "other")
			}
			return nil
		})
		o.evict("web")
		o.Sleep("1m")
		if !happened() {
			t.Fatal("the story did not come so far")
		}
		o.says("web", "nothing")
	})
}

// EVR-5: the CloneSet that has the name now does not control the pod.
func TestAnotherCloneSet(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 1)
		set, err := o.sets.Get(t.Context(), "web", metav1.GetOptions{})
		o.Must(err)
		o.Must(o.sets.Delete(t.Context(), "web", metav1.DeleteOptions{}))
		set.ObjectMeta = metav1.ObjectMeta{Name: "web"}
		_, err = o.sets.Create(t.Context(), set, metav1.CreateOptions{})
		o.Must(err)
		o.evict("web")
		o.Sleep("1s")
		o.names("")
	})
}

// EVR-8: what the API server said of an Eviction holds for that alone, and not for another one of the same name.
func TestAnswerToAnotherEviction(t *testing.T) {
	play(t, func(o *others) {
		o.pod("web", 0)
		asked := o.asks(func() error { return denied(3600) })
		o.evict("web")
		o.Sleep("10s")
		o.Hold("evictions")
		o.Must(o.evictions.Delete(t.Context(), "web", metav1.DeleteOptions{}))
		o.evict("web")
		o.Relist("evictions")
		o.Sleep("10s")
		if n := len(asked()); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}
