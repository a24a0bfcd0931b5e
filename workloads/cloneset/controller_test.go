package cloneset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/apitest"
)

// passes counts the passes of a controller.
type passes struct {
	lock sync.Mutex
	n    int
	errs []error
}

func (p *passes) Reconciled(_ string, _ time.Duration, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.n++; err != nil {
		p.errs = append(p.errs, err)
	}
}

// start runs a controller that shares the informers. The function it returns
// stops the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (*passes, func()) {
	c.t.Helper()
	p := &passes{}
	o := c.options
	o.Reader, o.Metrics = nil, p
	for _, e := range edit {
		e(&o)
	}
	controller, err := New(o)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- controller.Run(ctx) }()
	synctest.Wait()
	return p, func() {
		c.t.Helper()
		cancel()
		if err := <-done; err != nil {
			c.t.Errorf("Run: %v", err)
		}
	}
}

// rest lets kubelet and controller work for a minute. Then the controller must
// have done everything that can be done: an event that it had missed would have left
// something to do.
func (c *cluster) rest() {
	c.t.Helper()
	for range 30 {
		c.kubeletStep()
		c.sleep("2s")
	}
	plan, err := c.reconciler.Plan(web)
	if err != nil {
		c.t.Fatal(err)
	}
	if plan == nil {
		return
	}
	if n := len(plan.Create) + len(plan.Delete) + len(plan.Patch) + len(plan.DeleteClaims) + len(plan.HandOver) + len(plan.Revisions.Delete); n > 0 ||
		plan.Revisions.Create != nil || plan.Revisions.Raise != nil || plan.Status != nil || plan.PrunePodsToDelete {
		c.t.Errorf("the controller rests, and should not: %+v", plan)
	}
}

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
			func(c *cluster) { c.edit(`{"spec":{"replicas":9}}`) },
			func(c *cluster) { c.edit(`{"spec":{"replicas":2}}`) },
			func(c *cluster) { c.edit(`{"spec":{"replicas":0}}`) },
		}},
		{"updates in place with a short history", `{"spec":{"revisionHistoryLimit":1,"updateStrategy":{"type":"InPlaceIfPossible"}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
			func(c *cluster) { c.setImage("nginx:3") },
			func(c *cluster) { c.setImage("nginx:4") },
			func(c *cluster) { c.setImage("nginx:2") },
		}},
		{"updates by recreation with a short history", `{"spec":{"revisionHistoryLimit":0}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
			func(c *cluster) { c.setImage("nginx:3") },
		}},
		{"an update with surge, and back in the middle", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":0,"maxSurge":1,"partition":2}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
			func(c *cluster) { c.setImage("nginx:1") },
			func(c *cluster) { c.edit(`{"spec":{"updateStrategy":{"partition":0}}}`) },
		}},
		{"a grace period", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","inPlaceUpdateStrategy":{"gracePeriodSeconds":3}}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
		}},
		{"minReadySeconds", `{"spec":{"minReadySeconds":7,"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":3}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
		}},
		{"hooks", `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}},"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}},
			"updateStrategy":{"type":"InPlaceIfPossible"},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:2") },
			func(c *cluster) { c.hold("false") },
			func(c *cluster) { c.hold("true") },
			func(c *cluster) { c.edit(`{"spec":{"replicas":3}}`) },
			func(c *cluster) { c.hold("false") },
		}},
		{"pods deleted by the user", claims, []func(*cluster){
			func(c *cluster) { c.deletePod(c.podNames()[0]) },
			func(c *cluster) { c.deletePod(c.podNames()[1]); c.deletePod(c.podNames()[2]) },
			func(c *cluster) {
				c.patchPod(c.podNames()[3], `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
			},
			func(c *cluster) {
				c.edit(`{"spec":{"replicas":4,"scaleStrategy":{"podsToDelete":["` + c.podNames()[0] + `"]}}}`)
			},
		}},
		{"pods that fail", claims, []func(*cluster){
			func(c *cluster) { c.patchPod(c.podNames()[0], `{"status":{"phase":"Failed"}}`, "status") },
			func(c *cluster) { c.edit(`{"spec":{"scaleStrategy":{"disablePVCReuse":true}}}`) },
			func(c *cluster) { c.patchPod(c.podNames()[1], `{"status":{"phase":"Failed"}}`, "status") },
		}},
		{"a broken image, and its repair", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible"}}}`, []func(*cluster){
			func(c *cluster) { c.setImage("nginx:bad") },
			func(c *cluster) { c.setImage("nginx:3") },
		}},
		{"deletion", "", []func(*cluster){
			func(c *cluster) {
				if err := c.sets.Delete(c.t.Context(), "web", metav1.DeleteOptions{}); err != nil {
					c.t.Fatal(err)
				}
				c.CollectGarbage()
			},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(5, test.setup)
				c.rest()
				for i, step := range test.steps {
					before := p.n
					step(c)
					c.rest()
					if p.n > before+100 {
						t.Errorf("step %d took %d passes", i+1, p.n-before)
					}
				}
				if len(p.errs) > 0 {
					t.Errorf("passes failed: %q", p.errs)
				}
			})
		})
	}
}

// hold sets the label that hooks wait for.
func (c *cluster) hold(value string) {
	for _, name := range c.podNames() {
		c.patchPod(name, `{"metadata":{"labels":{"hold":"`+value+`"}}}`)
	}
}

// TestQuiet counts what a controller does where there is nothing to do.
func TestQuiet(t *testing.T) {
	t.Run("heartbeats of pods cost neither passes nor requests", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(20, inPlace)
			c.rest()
			before := p.n
			c.ForgetRequests()
			for i := range 10 {
				for _, name := range c.podNames() {
					c.patchPod(name, fmt.Sprintf(`{"metadata":{"managedFields":[{"manager":"m%d","operation":"Update","fieldsType":"FieldsV1","apiVersion":"v1"}]},
						"status":{"podIP":"10.0.0.%d","podIPs":[{"ip":"10.0.0.%d"}],"hostIP":"10.1.0.%d","startTime":"2026-01-01T00:00:%02dZ","observedGeneration":%d,
						"conditions":[{"type":"Ready","lastProbeTime":"2026-01-01T00:00:%02dZ"},{"type":"Other","status":"%v"}]}}`,
						i, i, i, i, i, i+1, i, i%2 == 0), "status")
				}
				c.sleep("10s")
			}
			if requests := c.requests(); p.n != before || len(requests) > 0 {
				t.Errorf("%d passes, requests %v", p.n-before, requests)
			}
		})
	})
	t.Run("a restart costs lists and watches only", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			c.create(20, inPlace)
			c.rest()
			stop()
			c.ForgetRequests()
			p, stop := c.start()
			defer stop()
			c.rest()
			if requests := c.requests(); len(requests) > 0 || p.n > 2 {
				t.Errorf("%d passes, requests %v", p.n, requests)
			}
		})
	})
	t.Run("stale caches cost no requests, however long they are stale", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			defer stop()
			c.Hold("pods")
			c.create(20, "")
			c.sleep("1s")
			c.ForgetRequests()
			c.sleep("10m")
			if requests := c.requests(); len(requests) > 0 {
				t.Errorf("requests %v", requests)
			}
			c.Release("pods")
			c.rest()
		})
	})
	t.Run("a bad spec is reported once, and no pod is touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(3, "")
			c.rest()
			before := p.n
			c.ForgetRequests()
			c.edit(`{"spec":{"replicas":5,"updateStrategy":{"partition":"x"}}}`)
			c.sleep("1h")
			if diff := cmp.Diff([]string{"1 patch clonesets/status"}, c.requests()); diff != "" || p.n > before+1 {
				t.Errorf("%d passes, requests (-want +got):\n%s", p.n-before, diff)
			}
			if got := c.conditions(); len(got) != 1 || !strings.Contains(got[0], "partition") || !strings.Contains(got[0], "FailedUpdate") {
				t.Errorf("conditions %q", got)
			}
			c.edit(`{"spec":{"updateStrategy":{"partition":null}}}`)
			c.rest()
			if got := c.conditions(); len(got) > 0 || len(c.pods()) != 5 {
				t.Errorf("%d pods, conditions %q", len(c.pods()), got)
			}
		})
	})
	t.Run("what cannot succeed is tried less and less often", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			defer stop()
			c.mustFailBefore("create pods", errQuota)
			c.create(3, "")
			c.sleep("1h")
			if n := c.Count(controllerUser)["create pods"]; n < 10 || n > 30 {
				t.Errorf("%d requests in the first hour", n)
			}
			c.FailBefore(nil)
			c.sleep("5m")
			c.rest()
			if len(c.pods()) != 3 || len(c.conditions()) > 0 {
				t.Errorf("%d pods, conditions %q", len(c.pods()), c.conditions())
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
			c.rest()
			if n := c.get().Status.AvailableReplicas; n != 3 {
				t.Errorf("%d pods available", n)
			}
			stop() // the bubble fails the test if a goroutine is left
		})
	})
	t.Run("it says so when it ends before its caches are filled", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			kube, workloads := c.clients("blind")
			c.FailBefore(func(r apitest.Request) error {
				if r.User == "blind" {
					return errLost
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
			c.FailBefore(func(r apitest.Request) error {
				if r.String() == "create pods" {
					<-hang
				}
				return nil
			})
			_, stop := c.start()
			c.create(1, "")
			c.sleep("1s")
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

func TestOptions(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		kube, workloads := c.clients(testUser)
		for _, test := range []struct {
			name    string
			options Options
			want    []string
		}{
			{"nothing at all", Options{}, []string{"Options.Kubernetes", "Options.Workloads"}},
			{"no client of CloneSets", Options{Kubernetes: kube}, []string{"Options.Workloads"}},
			{"no clientset", Options{Workloads: workloads}, []string{"Options.Kubernetes"}},
			{"negative workers", Options{Kubernetes: kube, Workloads: workloads, Workers: -1}, []string{"Options.Workers"}},
			{"pre-download without jobs", Options{Kubernetes: kube, Workloads: workloads, Features: Features{PreDownload: true}}, []string{"Options.Jobs"}},
		} {
			for _, make := range []func(Options) error{
				func(o Options) error { _, err := New(o); return err },
				func(o Options) error { o.Reader = c.options.Reader; _, err := NewReconciler(o); return err },
			} {
				err := make(test.options)
				for _, want := range test.want {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: error %v, want one that names %s", test.name, err, want)
					}
				}
			}
		}
		if _, err := NewReconciler(Options{Kubernetes: kube, Workloads: workloads}); err == nil || !strings.Contains(err.Error(), "Options.Reader") {
			t.Errorf("a Reconciler without Reader: error %v", err)
		}
	})
}
