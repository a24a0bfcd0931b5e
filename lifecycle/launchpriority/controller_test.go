// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestController plays stories with nothing but events to drive the controller.
func TestController(t *testing.T) {
	type steps = []struct {
		does string
		do   func(*cluster)
		// states and keys are what the kubelet and the controller have come to.
		states, keys string
	}
	repair := func(container string) func(*cluster) { return func(c *cluster) { c.repair(container) } }
	spoil := func(container string) func(*cluster) { return func(c *cluster) { c.spoil(container) } }
	for _, test := range []struct {
		name       string
		containers string
		steps      steps
	}{
		{"the example", "main=0 proxy=100 log=100 agent=-5", steps{
			{"LP-E4: they wait", func(*cluster) {}, "proxy:created log:created", "p_100"},
			{"LP-E4: for both", repair("proxy"), "proxy:ready log:created", "p_100"},
			{"LP-10: both are ready", repair("log"), "main:created proxy:ready log:ready", "p_0 p_100"},
			{"LP-10: main is ready", repair("main"), "main:ready proxy:ready log:ready agent:created", "p_-5 p_0 p_100"},
			{"LP-12: all are ready", repair("agent"), "main:ready proxy:ready log:ready agent:ready", "p_-5 p_0 p_100"},
		}},
		{"LP-E5: one fails after the others have started", "main=0 proxy=100", steps{
			{"proxy is ready", repair("proxy"), "main:created proxy:ready", "p_0 p_100"},
			{"proxy fails", spoil("proxy"), "main:created proxy:created", "p_0 p_100"},
			{"main does not mind", repair("main"), "main:ready proxy:created", "p_0 p_100"},
		}},
		{"LP-E9: somebody deletes the ConfigMap", "main=0 proxy=100 agent=-5", steps{
			{"proxy is ready", repair("proxy"), "main:created proxy:ready", "p_0 p_100"},
			{"it is made again at the next event, for main", func(c *cluster) { c.deleteConfigMap(); c.spoil("proxy"); c.KubeletStep(); c.repair("proxy") }, "main:created proxy:ready", "p_0 p_100"},
			{"main is ready", repair("main"), "main:ready proxy:ready agent:created", "p_-5 p_0 p_100"},
		}},
		{"LP-E9: somebody deletes the ConfigMap before a container has started", "main=0 proxy=100", steps{
			{"the kubelet refuses proxy, and tells", func(c *cluster) { c.deleteConfigMapOnceCreated() }, "proxy:created", "p_100"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				reconciles, stop := c.start()
				defer stop()
				c.create(test.containers)
				for _, step := range test.steps {
					step.do(c)
					c.settle()
					if got := c.states(); got != step.states {
						t.Errorf("%s: containers %s, want %s", step.does, got, step.states)
					}
					if got := c.keys(); got != step.keys {
						t.Errorf("%s: keys %s, want %s", step.does, got, step.keys)
					}
				}
				if len(reconciles.Errors()) > 0 {
					t.Errorf("reconciles failed: %q", reconciles.Errors())
				}
			})
		})
	}
}

// deleteConfigMapOnceCreated lets the kubelet report that it has begun, and
// takes the ConfigMap away before it starts a container.
func (c *cluster) deleteConfigMapOnceCreated() {
	c.T.Helper()
	c.PatchPod(fixture.Web.Name, `{"status":{"conditions":[{"type":"ContainersReady","status":"False"}],
		"containerStatuses":[{"name":"main","state":{"waiting":{"reason":"ContainerCreating"}}},{"name":"proxy","state":{"waiting":{"reason":"ContainerCreating"}}}]}}`, "status")
	if got := c.keys(); got != "p_100" {
		c.T.Fatalf("keys %s", got)
	}
	c.deleteConfigMap()
}

// TestRequests counts what starting a pod costs.
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.create("main=0 proxy=100 log=100 agent=-5")
		c.settle()
		if diff := cmp.Diff([]string{"1 create configmaps", "1 get configmaps"}, c.Sent()); diff != "" {
			t.Errorf("the first key (-want +got):\n%s", diff)
		}
		c.ForgetRequests()
		for _, container := range []string{"proxy", "log", "main", "agent"} {
			c.repair(container)
			c.settle()
		}
		// One look more: proxy is ready and log is not.
		if diff := cmp.Diff([]string{"3 get configmaps", "2 patch configmaps"}, c.Sent()); diff != "" {
			t.Errorf("two more keys (-want +got):\n%s", diff)
		}
		c.Sleep("2m") // the looks that were asked for while the kubelet refused containers
		c.ForgetRequests()
		before := reconciles.Count()
		for i := range 10 {
			c.PatchPod("web", `{"metadata":{"labels":{"beat":"`+strings.Repeat("x", i)+`"}}}`)
			c.settle()
		}
		if requests := c.Sent(); len(requests) > 0 || reconciles.Count() != before {
			t.Errorf("a pod whose containers are ready costs %v in %d reconciles", requests, reconciles.Count()-before)
		}
	})
}

// A restart costs nothing for pods that have started, and looks once at each
// that has not.
func TestRestart(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		c.create("main=0 proxy=100")
		c.settle()
		stop()
		c.ForgetRequests()
		_, stop = c.start()
		c.settle()
		if diff := cmp.Diff([]string{"1 get configmaps"}, c.Sent()); diff != "" {
			t.Errorf("a pod that is starting (-want +got):\n%s", diff)
		}
		c.repair("proxy")
		c.repair("main")
		c.settle()
		stop()
		c.ForgetRequests()
		_, stop = c.start()
		defer stop()
		c.settle()
		if diff := cmp.Diff([]string{}, c.Sent()); diff != "" {
			t.Errorf("a pod that has started (-want +got):\n%s", diff)
		}
	})
}

// A pod has the name of a former one, whose ConfigMap the garbage collector has not
// removed yet. The keys of that ConfigMap are not for the new pod.
func TestFormerPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		former := c.create("main=0 proxy=100")
		c.settle()
		c.RemovePod("web")
		pod := c.create("main=0 proxy=100")
		c.PatchPod("web", `{"status":{"conditions":[{"type":"ContainersReady","status":"False"}],"containerStatuses":[{"name":"main"},{"name":"proxy"}]}}`, "status")
		c.ForgetRequests()
		c.Sleep("5s")
		if owner := c.configMap().OwnerReferences[0].UID; owner != former.UID {
			t.Fatalf("the ConfigMap of the former pod has the owner %s", owner)
		}
		if diff := cmp.Diff([]string{"5 get configmaps"}, c.Sent()); diff != "" {
			t.Errorf("waiting (-want +got):\n%s", diff)
		}
		c.CollectGarbage()
		c.Sleep("2s")
		if configMap := c.configMap(); configMap == nil || configMap.OwnerReferences[0].UID != pod.UID || c.keys() != "p_100" {
			t.Errorf("the ConfigMap %+v is not that of the new pod", configMap)
		}
		c.RemovePod("web")
		c.CollectGarbage()
		if c.configMap() != nil {
			t.Error("LP-12: the ConfigMap has stayed after its pod")
		}
	})
}

// A ConfigMap of another owner is left alone, and an event recorded.
func TestForeignConfigMap(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.createConfigMap("nobody", "mine")
		c.create("main=0 proxy=100")
		c.settle()
		if got := c.keys(); got != "mine" {
			t.Errorf("keys %s in the ConfigMap of somebody else", got)
		}
		const want = "Warning FailedLaunchContainers: ConfigMap web-barrier lacks p_100 and does not belong to this pod: "
		events := c.Events.All()
		if len(events) == 0 || !strings.HasPrefix(events[0], want) {
			t.Errorf("events %q, want %q", events, want)
		}
		if n := c.Events.Count("FailedLaunchContainers"); n > 2 {
			t.Errorf("%d events within ten seconds", n)
		}
		c.deleteConfigMap()
		c.Sleep("1m")
		if got := c.keys(); got != "p_100" || len(reconciles.Errors()) > 0 {
			t.Errorf("keys %s after the user has made room, errors %q", got, reconciles.Errors())
		}
	})
}

func TestReconcilesThatFail(t *testing.T) {
	for _, test := range []struct {
		name      string
		setUp     func(*cluster)
		fails     string
		with      error
		wantError func(error) bool
		after     string // the keys then
	}{
		{"LP-9: created by somebody else meanwhile", nil, "create configmaps", apierrors.NewAlreadyExists(corev1.Resource("configmaps"), "web-barrier"), noError, "-"},
		{"the answer to the creation is lost", nil, "create configmaps", fixture.ErrLost, anError, "-"},
		{"a creation is refused", nil, "create configmaps", fixture.ErrQuota, anError, "-"},
		{"deleted by somebody else meanwhile", spoiled, "patch configmaps", apierrors.NewNotFound(corev1.Resource("configmaps"), "web-barrier"), noError, "p_100"},
		{"a patch fails", spoiled, "patch configmaps", fixture.ErrInternal, anError, "p_100"},
		{"the ConfigMap cannot be read", nil, "get configmaps", fixture.ErrInternal, anError, "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create("main=0 proxy=100")
				c.KubeletStep()
				if test.setUp != nil {
					test.setUp(c)
				}
				c.FailBefore(fixture.Fail(test.fails, test.with))
				_, after, err := c.ReconcileOnce()
				if !test.wantError(err) {
					t.Errorf("error %v", err)
				}
				if err == nil && (after == 0 || after > time.Second) {
					t.Errorf("again after %s, want soon", after)
				}
				if got := c.keys(); got != test.after {
					t.Errorf("keys %s, want %s", got, test.after)
				}
				c.FailBefore(nil)
				c.MustReconcile()
				if c.Unfinished() != "" || c.keys() == "-" {
					t.Errorf("keys %s, still to do: %s", c.keys(), c.Unfinished())
				}
			})
		})
	}
}

func noError(err error) bool { return err == nil }
func anError(err error) bool { return err != nil }

// spoiled leads to a reconcile that adds a key.
func spoiled(c *cluster) {
	c.MustReconcile()
	c.repair("proxy")
	c.KubeletStep()
	c.KubeletStep()
}

// In a namespace that is being deleted nothing can be created any more.
func TestNamespaceThatGoes(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("main=0 proxy=100")
		c.KubeletStep()
		forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "web-barrier", nil)
		forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})
		c.FailBefore(fixture.Fail("create configmaps", forbidden))
		for _, want := range []int{1, 0} {
			requests, after, err := c.ReconcileOnce()
			if err != nil || after != 0 {
				t.Errorf("error %v, again after %s: there is nothing to try again for", err, after)
			}
			creations := slices.DeleteFunc(requests, func(r string) bool { return !strings.Contains(r, "create") })
			if len(creations) != want {
				t.Errorf("requests %q, want %d creations", creations, want)
			}
		}
	})
}
