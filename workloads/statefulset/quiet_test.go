package statefulset

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
)

// TestQuiet counts what a controller does where there is nothing to do.
func TestQuiet(t *testing.T) {
	t.Run("heartbeats of pods cost neither passes nor requests", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(10, spec(c, withParallel, withClaims))
			c.Rest()
			before := p.Count()
			c.ForgetRequests()
			c.Heartbeats()
			c.patchClaim("data-web-0", `{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"pv"}}`)
			c.Sleep("10s")
			if requests := c.Sent(); p.Count() != before || len(requests) > 0 {
				t.Errorf("%d passes, requests %v", p.Count()-before, requests)
			}
		})
	})
	t.Run("a restart costs lists and watches only", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			c.create(10, spec(c, withParallel, withClaims))
			c.Rest()
			stop()
			c.ForgetRequests()
			p, stop := c.start()
			defer stop()
			c.Rest()
			if requests := c.Sent(); len(requests) > 0 || p.Count() > 2 {
				t.Errorf("%d passes, requests %v", p.Count(), requests)
			}
		})
	})
	for _, resource := range []string{"pods", "persistentvolumeclaims", "controllerrevisions", "statefulsets"} {
		t.Run("a stale cache of "+resource+" costs no requests, however long it is stale", func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				_, stop := c.start()
				defer stop()
				c.create(3, withClaims)
				c.Rest()
				c.Hold(resource)
				c.Edit(`{"spec":{"replicas":5}}`)
				c.SetImage("nginx:2")
				c.Sleep("1s")
				c.ForgetRequests()
				c.Sleep("10m")
				if requests := c.Sent(); len(requests) > 0 {
					t.Errorf("requests %v", requests)
				}
				c.Release(resource)
				c.Rest()
				c.whole()
			})
		})
	}
	for _, test := range []struct{ bad, good, says string }{
		{`{"spec":{"replicas":5,"updateStrategy":{"rollingUpdate":{"maxUnavailable":"x"}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":null}}}}`, "maxUnavailable"},
		{`{"spec":{"replicas":-1}}`, `{"spec":{"replicas":5}}`, "spec.replicas"},
		{`{"spec":{"replicas":5,"selector":null}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`, "spec.selector"},
		{`{"spec":{"replicas":5,"selector":{"matchLabels":null}}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`, "spec.selector"},
	} {
		t.Run("a bad spec is reported once, and no pod is touched: "+test.bad, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(3, withParallel)
				c.Rest()
				before := p.Count()
				c.ForgetRequests()
				c.Edit(test.bad)
				c.Sleep("1h")
				if diff := cmp.Diff([]string{"1 patch statefulsets/status"}, c.Sent()); diff != "" || p.Count() != before+1 {
					t.Errorf("%d passes, requests (-want +got):\n%s", p.Count()-before, diff)
				}
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedUpdatePod: ") || !strings.Contains(got[0], test.says) {
					t.Errorf("conditions %q", got)
				}
				c.Edit(test.good)
				c.Rest()
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
	t.Run("what cannot succeed is tried less and less often", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			defer stop()
			c.FailBefore(fixture.Fail("create pods", fixture.ErrQuota))
			c.create(3, "")
			c.Sleep("1h")
			if n := c.Count(fixture.ControllerUser)["create pods"]; n < 10 || n > 30 {
				t.Errorf("%d requests in the first hour", n)
			}
			if n := c.Count(fixture.ControllerUser)["patch statefulsets/status"]; n > 2 {
				t.Errorf("%d writes of the status", n)
			}
			c.FailBefore(nil)
			c.Sleep("5m")
			c.Rest()
			c.whole()
		})
	})
}

func TestRun(t *testing.T) {
	t.Run("with informers of its own, it leaves no goroutine behind", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start(func(o *Options) { o.StatefulSets, o.Pods, o.Claims, o.Revisions = nil, nil, nil, nil })
			c.create(3, withClaims)
			c.Rest()
			c.whole()
			if got := c.Conditions(); len(got) > 0 {
				t.Errorf("conditions %q", got)
			}
			stop() // the bubble fails the test if a goroutine is left
		})
	})
	t.Run("it says so when it ends before its caches are filled", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.FailBefore(func(r fakecluster.Request) error {
				if r.User == "blind" {
					return fixture.ErrLost
				}
				return nil
			})
			controller, err := New(Options{Kubernetes: c.Client("blind"), Workloads: c.workloads("blind")})
			c.Must(err)
			cause := errors.New("enough")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
			defer cancel()
			if err := controller.Run(ctx); !errors.Is(err, cause) || !strings.Contains(err.Error(), "caches") {
				t.Errorf("Run: %v", err)
			}
		})
	})
	t.Run("it waits for the pass under way", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			hang := make(chan struct{})
			c.FailBefore(func(r fakecluster.Request) error {
				if r.String() == "create pods" {
					<-hang
				}
				return nil
			})
			_, stop := c.start()
			c.create(1, "")
			c.Sleep("1s")
			stopped := false
			go func() { stop(); stopped = true }()
			synctest.Wait()
			if stopped {
				t.Error("Run returned while a request was under way")
			}
			close(hang)
			synctest.Wait()
			if !stopped {
				t.Error("Run did not return")
			}
		})
	})
}
