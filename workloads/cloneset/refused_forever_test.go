// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// lagBehind has all watches show what happens a while later. The function it returns ends that.
func (c *cluster) lagBehind(least, most time.Duration) (stop func()) {
	resources := []string{"clonesets", "persistentvolumeclaims", "controllerrevisions", "pods"}
	r, end, done := rand.New(rand.NewPCG(1, 2)), make(chan struct{}), make(chan struct{})
	each := func(do func(string)) {
		for _, resource := range resources {
			do(resource)
		}
	}
	each(c.Hold)
	go func() {
		defer close(done)
		for {
			select {
			case <-end:
				each(c.Release)
				return
			case <-time.After(least + time.Duration(r.Int64N(int64(most-least)))):
				each(c.Release)
				each(c.Hold)
			}
		}
	}()
	return func() { close(end); <-done; synctest.Wait() }
}

// TestRefusedForEver refuses what a CloneSet needs for an hour, with a text that is the same each time or another, while
// watches are behind. (CT-3)
func TestRefusedForEver(t *testing.T) {
	const tries = 30
	ms := time.Millisecond
	for _, test := range []struct {
		name, edit, refused string
		perTry              int
	}{
		{"CT-3: deletions", `{"spec":{"replicas":2}}`, "delete pods", 3},
		{"CT-3: creations", `{"spec":{"replicas":9}}`, "create pods", 1},
		{"CT-3: the status", `{"spec":{"replicas":9}}`, "patch clonesets/status", 1},
	} {
		for _, lag := range [][2]time.Duration{{1 * ms, 10 * ms}, {20 * ms, 60 * ms}} {
			for _, varies := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, lag %s, another text each time: %v", test.name, lag, varies), func(t *testing.T) {
					inCluster(t, func(t *testing.T, c *cluster) {
						c.create(5, "")
						_, stop := c.start()
						defer stop()
						c.Minute()
						n := 0
						c.FailBefore(func(r fakecluster.Request) error {
							if r.User != fixture.ControllerUser || strings.TrimSpace(r.String()) != test.refused {
								return nil
							}
							if varies {
								n++
							}
							return apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("request %d is denied", n))
						})
						stopLag := c.lagBehind(lag[0], lag[1])
						defer stopLag()
						c.ForgetRequests()
						c.Edit(test.edit)
						c.Sleep("10m") // in which the back-off has come to its longest
						if sent := c.Count(fixture.ControllerUser); sent[test.refused] > tries*test.perTry || sent["patch clonesets/status"] > tries {
							t.Errorf("in ten minutes %v", c.Sent())
						}
					})
				})
			}
		}
	}
}

// TestRefusedBesideADeniedUpdate: CT-3, CT-10. A budget that denies one pod is asked once a second. The recreations of the others, which it
// allows and the API server refuses, are not tried as often for that.
func TestRefusedBesideADeniedUpdate(t *testing.T) {
	for _, unavailable := range []int{1, 3} {
		t.Run(fmt.Sprint("CT-3: maxUnavailable ", unavailable), func(t *testing.T) { refusedBesideADenied(t, unavailable) })
	}
}

func refusedBesideADenied(t *testing.T, unavailable int) {
	inCluster(t, func(t *testing.T, c *cluster) {
		budget := &exhausted{asked: map[string]int{}}
		c.options.Budget = budget
		c.create(3, fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"ReCreate","maxUnavailable":%d}}}`, unavailable))
		_, stop := c.start()
		defer stop()
		c.Minute()
		for i, pod := range c.PodNames() {
			c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"web"},"labels":{"budget":"`+[]string{"exhausted", "other", "other"}[i]+`"}}}`)
		}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "delete pods" {
				return fixture.ErrQuota
			}
			return nil
		})
		c.ForgetRequests()
		c.SetImage("nginx:2")
		c.Sleep("1h")
		if sent := c.Count(fixture.ControllerUser); sent["delete pods"] > 30*2 || sent["delete pods"] < 10*2 {
			t.Errorf("in an hour %v", c.Sent())
		}
		if n := budget.asked["exhausted"]; n < 3000 {
			t.Errorf("the exhausted budget was asked %d times in an hour", n)
		}
		c.FailBefore(nil)
		for range 20 {
			c.Sleep("30s")
			c.KubeletStep()
		}
		if got := strings.Count(strings.Join(c.images(), " "), "nginx:2"); got != 2 {
			t.Errorf("when deletions are served, %d pods are updated, want 2", got)
		}
	})
}
