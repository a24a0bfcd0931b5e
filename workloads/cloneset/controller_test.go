package cloneset

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

// TestController plays whole stories with nothing but events to drive the controller.
func TestController(t *testing.T) {
	const claims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	for _, test := range []struct {
		name  string
		setup string
		steps []func(*cluster)
	}{
		{"creation", "", nil},
		{"creation with claims", claims, nil},
		{"scale out and in", "", []func(*cluster){
			func(c *cluster) { c.Edit(`{"spec":{"replicas":9}}`) },
			func(c *cluster) { c.Edit(`{"spec":{"replicas":2}}`) },
			func(c *cluster) { c.Edit(`{"spec":{"replicas":0}}`) },
		}},
		{"updates in place with a short history", `{"spec":{"revisionHistoryLimit":1,"updateStrategy":{"type":"InPlaceIfPossible"}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
			func(c *cluster) { c.SetImage("nginx:3") },
			func(c *cluster) { c.SetImage("nginx:4") },
			func(c *cluster) { c.SetImage("nginx:2") },
		}},
		{"updates by recreation with a short history", `{"spec":{"revisionHistoryLimit":0}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
			func(c *cluster) { c.SetImage("nginx:3") },
		}},
		{"an update with surge, and back in the middle", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":0,"maxSurge":1,"partition":2}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
			func(c *cluster) { c.SetImage("nginx:1") },
			func(c *cluster) { c.Edit(`{"spec":{"updateStrategy":{"partition":0}}}`) },
		}},
		{"a grace period", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","inPlaceUpdateStrategy":{"gracePeriodSeconds":3}}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
		}},
		{"minReadySeconds", `{"spec":{"minReadySeconds":7,"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":3}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
		}},
		{"hooks", `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}},"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}},
			"updateStrategy":{"type":"InPlaceIfPossible"},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:2") },
			func(c *cluster) { c.LabelPods("hold", "false") },
			func(c *cluster) { c.LabelPods("hold", "true") },
			func(c *cluster) { c.Edit(`{"spec":{"replicas":3}}`) },
			func(c *cluster) { c.LabelPods("hold", "false") },
		}},
		{"pods deleted by the user", claims, []func(*cluster){
			func(c *cluster) { c.DeletePod(c.PodNames()[0]) },
			func(c *cluster) { c.DeletePod(c.PodNames()[1]); c.DeletePod(c.PodNames()[2]) },
			func(c *cluster) {
				c.PatchPod(c.PodNames()[3], `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
			},
			func(c *cluster) {
				c.Edit(`{"spec":{"replicas":4,"scaleStrategy":{"podsToDelete":["` + c.PodNames()[0] + `"]}}}`)
			},
		}},
		{"pods that fail", claims, []func(*cluster){
			func(c *cluster) { c.PatchPod(c.PodNames()[0], `{"status":{"phase":"Failed"}}`, "status") },
			func(c *cluster) { c.Edit(`{"spec":{"scaleStrategy":{"disablePVCReuse":true}}}`) },
			func(c *cluster) { c.PatchPod(c.PodNames()[1], `{"status":{"phase":"Failed"}}`, "status") },
		}},
		{"a broken image, and its repair", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible"}}}`, []func(*cluster){
			func(c *cluster) { c.SetImage("nginx:bad") },
			func(c *cluster) { c.SetImage("nginx:3") },
		}},
		{"deletion", "", []func(*cluster){
			func(c *cluster) { c.Delete() },
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(5, test.setup)
				c.Rest()
				for i, step := range test.steps {
					before := p.Count()
					step(c)
					c.Rest()
					if p.Count() > before+100 {
						t.Errorf("step %d took %d passes", i+1, p.Count()-before)
					}
				}
				if len(p.Errors()) > 0 {
					t.Errorf("passes failed: %q", p.Errors())
				}
			})
		})
	}
}

// TestQuiet counts what a controller does where there is nothing to do.
func TestQuiet(t *testing.T) {
	t.Run("heartbeats of pods cost neither passes nor requests", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(20, inPlace)
			c.Rest()
			before := p.Count()
			c.ForgetRequests()
			c.Heartbeats()
			if requests := c.Sent(); p.Count() != before || len(requests) > 0 {
				t.Errorf("%d passes, requests %v", p.Count()-before, requests)
			}
		})
	})
	t.Run("a restart costs lists and watches only", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			c.create(20, inPlace)
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
	t.Run("stale caches cost no requests, however long they are stale", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			defer stop()
			c.Hold("pods")
			c.create(20, "")
			c.Sleep("1s")
			c.ForgetRequests()
			c.Sleep("10m")
			if requests := c.Sent(); len(requests) > 0 {
				t.Errorf("requests %v", requests)
			}
			c.Release("pods")
			c.Rest()
		})
	})
	t.Run("a bad spec is reported once, and no pod is touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(3, "")
			c.Rest()
			before := p.Count()
			c.ForgetRequests()
			c.Edit(`{"spec":{"replicas":5,"updateStrategy":{"partition":"x"}}}`)
			c.Sleep("1h")
			if diff := cmp.Diff([]string{"1 patch clonesets/status"}, c.Sent()); diff != "" || p.Count() > before+1 {
				t.Errorf("%d passes, requests (-want +got):\n%s", p.Count()-before, diff)
			}
			if got := c.Conditions(); len(got) != 1 || !strings.Contains(got[0], "partition") || !strings.Contains(got[0], "FailedUpdate") {
				t.Errorf("conditions %q", got)
			}
			c.Edit(`{"spec":{"updateStrategy":{"partition":null}}}`)
			c.Rest()
			if got := c.Conditions(); len(got) > 0 || len(c.Pods()) != 5 {
				t.Errorf("%d pods, conditions %q", len(c.Pods()), got)
			}
		})
	})
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
			c.FailBefore(nil)
			c.Sleep("5m")
			c.Rest()
			if len(c.Pods()) != 3 || len(c.Conditions()) > 0 {
				t.Errorf("%d pods, conditions %q", len(c.Pods()), c.Conditions())
			}
		})
	})
}

func TestRun(t *testing.T) {
	t.Run("with informers of its own, it leaves no goroutine behind", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start(func(o *Options) {
				o.CloneSets, o.Pods, o.Claims, o.Revisions, o.NoNodes = nil, nil, nil, nil, false
			})
			c.create(3, "")
			c.Rest()
			if n := c.get().Status.AvailableReplicas; n != 3 {
				t.Errorf("%d pods available", n)
			}
			stop() // the bubble fails the test if a goroutine is left
		})
	})
	t.Run("it says so when it ends before its caches are filled", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			kube, workloads := c.Client("blind"), c.workloads("blind")
			c.FailBefore(func(r fakecluster.Request) error {
				if r.User == "blind" {
					return fixture.ErrLost
				}
				return nil
			})
			controller, err := New(Options{Kubernetes: kube, Workloads: workloads})
			if err != nil {
				t.Fatal(err)
			}
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
