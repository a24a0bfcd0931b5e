// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A request for one container costs three writes, one for two containers four.
func TestStoryWrites(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.create("one", "web-0", only("main"))
		n.work(10 * time.Second)
		n.is("one", "Completed, main Succeeded killed")
		n.want("CRR-5.5.5: one stop, the grace period of the pod", []string{"StopContainer main-1 30s"}, n.stops())
		n.want("three writes", []string{"3 patch containerrecreaterequests/status"}, n.sent())
		n.want("CRR-5.5.1: the event", []string{"Normal Killing: Stopping container main by ContainerRecreateRequest one"}, n.events.All())
		about := []corev1.ObjectReference{{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web-0",
			UID: n.getPod("web-0").UID, FieldPath: "spec.containers{main}"}}
		if diff := cmp.Diff(about, n.events.About()); diff != "" {
			n.Errorf("CRR-5.5.1: what the event is about (-want +got):\n%s", diff)
		}

		n.create("both", "web-0")
		n.work(10 * time.Second)
		n.is("both", "Completed, main Succeeded killed, side Succeeded killed")
		n.want("CRR-5.3.6: one after the other", []string{"StopContainer main-3 30s", "StopContainer side-2 30s"}, n.stops())
		n.want("restarts", []string{"main 2", "side 1"}, n.restarts("web-0"))
		n.want("four writes", []string{"4 patch containerrecreaterequests/status"}, n.sent())
		n.work(time.Hour)
		n.want("and no more", nil, append(n.sent(), n.stops()...))
	})
}

// Unordered, containers are stopped one after the other without a wait for
// readiness; ordered, each waits for the one before.
func TestStoryOrder(t *testing.T) {
	play(t, func(n *node) {
		n.startup = 5 * time.Second
		n.pod("web-0")
		n.start()
		n.create("unordered", "web-0")
		n.work(2 * time.Second)
		n.want("CRR-5.3.6: unordered", []string{"StopContainer main-1 30s", "StopContainer side-2 30s"}, n.stops())
		n.is("unordered", "Recreating, main Recreating killed, side Recreating killed")
		n.work(10 * time.Second)
		n.is("unordered", "Completed, main Succeeded killed, side Succeeded killed")

		n.create("ordered", "web-0", ordered)
		n.work(3 * time.Second)
		n.want("CRR-5.3.6: ordered, the first", []string{"StopContainer main-3 30s"}, n.stops())
		n.work(5 * time.Second)
		n.want("CRR-5.3.6: ordered, the second", []string{"StopContainer side-4 30s"}, n.stops())
		n.is("ordered", "Recreating, main Succeeded killed, side Recreating killed")
		n.work(10 * time.Second)
		n.is("ordered", "Completed, main Succeeded killed, side Succeeded killed")
	})
}

// Requests for one pod are worked on one at a time, and every one ends; those of
// other pods do not wait.
func TestStorySeveral(t *testing.T) {
	play(t, func(n *node) {
		n.startup = 2 * time.Second
		n.pod("web-0")
		n.pod("web-1")
		n.start()
		for _, name := range []string{"a", "b", "c"} {
			n.create(name, "web-0", only("main"))
			n.sleep(time.Second)
		}
		n.create("other", "web-1", only("main"))
		n.is("a", "Recreating, main Recreating killed")
		n.is("b", "Pending")
		n.is("c", "Pending")
		n.is("other", "Recreating, main Recreating killed")
		n.work(time.Minute)
		for _, name := range []string{"a", "b", "c", "other"} {
			if r := n.get(name); r.Status.Phase != completed || r.Status.Message != "" || r.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] != "" {
				n.Errorf("request %s: %s", name, showStatus(&r.Status))
			}
		}
		n.want("CRR-5.4.4: what a request before has recreated is not stopped again", []string{"main 1", "side 0"}, n.restarts("web-0"))
		n.create("d", "web-0", only("main"), forced)
		n.create("e", "web-0", only("main"), forced)
		n.work(time.Minute)
		n.want("CRR-5.4.3: with force each stops", []string{"main 3", "side 0"}, n.restarts("web-0"))
	})
}

// The pod is out of service for the grace period before the first stop, and back
// in service after the last.
func TestStoryUnready(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.create("r", "web-0", only("main"), unready(10))
		n.work(9 * time.Second)
		n.is("r", "Recreating")
		n.want("CRR-5.3.2: nothing before", nil, n.stops())
		if readiness.Ready(n.getPod("web-0")) {
			n.Error("the pod is in service")
		}
		n.work(3 * time.Second)
		n.want("CRR-5.3.2: then", []string{"StopContainer main-1 30s"}, n.stops())
		n.work(5 * time.Second)
		n.is("r", "Completed, main Succeeded killed")
		n.want("a write more: the phase", []string{"4 patch containerrecreaterequests/status"}, n.sent())
		if !readiness.Ready(n.getPod("web-0")) {
			n.Error("the pod is out of service")
		}
	})
}

func TestStoryMinStarted(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.create("r", "web-0", only("main"), minStarted(20))
		n.work(19 * time.Second)
		n.is("r", "Recreating, main Recreating killed")
		n.work(2 * time.Second)
		n.is("r", "Completed, main Succeeded killed")
	})
}

// The hook is the request's own copy, and takes of its grace period.
func TestStoryHook(t *testing.T) {
	withHook := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("bye")}
	}
	play(t, func(n *node) {
		code := int32(0)
		n.runtime.Command = func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error) {
			time.Sleep(4 * time.Second)
			return &criv1.ExecSyncResponse{ExitCode: code}, nil
		}
		n.pod("web-0", withHook)
		n.start()
		n.create("r", "web-0", only("main"), grace(20))
		n.work(10 * time.Second)
		n.want("CRR-5.5.3, CRR-5.5.4: the hook, and the rest of the grace period", []string{"ExecSync main-1 bye", "StopContainer main-1 16s"}, n.stops())
		code = 1
		n.create("s", "web-0", only("main"), grace(5))
		n.work(10 * time.Second)
		n.want("CRR-5.5.4: 2 s at least", []string{"ExecSync main-3 bye", "StopContainer main-3 2s"}, n.stops())
		if n.events.Count(v1alpha1.ContainerRecreateEventFailedPreStopHook) != 1 {
			n.Errorf("CRR-5.5.3: events %v", n.events.All())
		}
		n.create("t", "web-0", only("main"), grace(0))
		n.work(10 * time.Second)
		n.want("CRR-5.5.4: no grace period, no hook", []string{"StopContainer main-4 2s"}, n.stops())
		n.is("t", "Completed, main Succeeded killed")
	})
}

// A container that cannot be stopped fails; the policy says what that means for
// the others.
func TestStoryFailurePolicy(t *testing.T) {
	const message = "kill container error: container runtime unix:///run/test.sock: stop container main-1: rpc error: code = Unknown desc = stuck"
	for name, test := range map[string]struct {
		with   []edit
		want   string
		writes string
	}{
		"CRR-5.3.6: Fail":            {nil, "Completed, main Failed " + message + ", side Pending", "3"},
		"CRR-5.3.6: Ignore":          {[]edit{ignore}, "Completed, main Failed " + message + ", side Succeeded killed", "4"},
		"CRR-5.3.6: Ignore, ordered": {[]edit{ignore, ordered}, "Completed, main Failed " + message + ", side Succeeded killed", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.pod("web-0")
				n.start()
				stuck := true
				n.runtime.FailWith(func(method string) error {
					if method == "StopContainer" && stuck {
						stuck = false
						return status.Error(codes.Unknown, "stuck")
					}
					return nil
				})
				n.create("r", "web-0", test.with...)
				n.work(10 * time.Second)
				n.is("r", test.want)
				n.want("writes", []string{test.writes + " patch containerrecreaterequests/status"}, n.sent())
			})
		})
	}
}

// A runtime that is restarted is waited for: before a stop and in the middle of one.
func TestStoryRuntimeRestarts(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.runtime.SetDown(true)
		n.create("r", "web-0", only("main"))
		n.sleep(5 * time.Minute)
		n.is("r", "Recreating")
		n.runtime.SetDown(false)
		broken := true
		n.runtime.FailWith(func(method string) error {
			if method == "StopContainer" && broken {
				broken = false
				return status.Error(codes.Unavailable, "transport is closing")
			}
			return nil
		})
		n.work(2 * time.Minute)
		n.is("r", "Completed, main Succeeded killed")
		n.want("restarts", []string{"main 1", "side 0"}, n.restarts("web-0"))
	})
}

// Nothing is stopped that is not written down.
func TestStoryAPIServerGone(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.api.FailBefore(func(r fakecluster.Request) error {
			if r.User == agentUser && r.Verb == "patch" {
				return fixture.ErrLost
			}
			return nil
		})
		n.create("r", "web-0", only("main"))
		n.sleep(30 * time.Second)
		n.want("no stop without a write", nil, n.stops())
		n.api.FailBefore(nil)
		n.work(2 * time.Minute)
		n.is("r", "Completed, main Succeeded killed")
		n.want("once", []string{"main 1", "side 0"}, n.restarts("web-0"))
	})
}

// The next request of a pod begins when the one before it is deleted, at once or once its pod has been put back. (CRR-5.2)
func TestStoryFirstIsDeleted(t *testing.T) {
	for name, test := range map[string]struct {
		first edit
		is    string
		want  []string
	}{
		"waits for its container": {minStarted(600), "Recreating, main Recreating killed", []string{"StopContainer main-1 30s", "StopContainer side-2 30s"}},
		"out of service":          {unready(600), "Recreating", []string{"StopContainer side-2 30s"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.pod("web-0")
				n.start()
				n.create("first", "web-0", only("main"), test.first)
				n.work(30 * time.Second)
				n.create("second", "web-0", only("side"))
				n.work(time.Minute)
				n.is("first", test.is)
				n.is("second", "Pending")
				n.must(n.requests.Delete(n.Context(), "first", metav1.DeleteOptions{}))
				n.work(10 * time.Second)
				n.is("second", "Completed, side Succeeded killed")
				n.want("stops", test.want, n.stops())
			})
		})
	}
}

// A request that was completed or deleted is not worked on, even if the cache
// does not know yet.
func TestStoryStaleCache(t *testing.T) {
	for name, end := range map[string]func(*node){
		"completed": func(n *node) {
			r := n.get("r")
			now := metav1.Now()
			r.Status.Phase, r.Status.CompletionTime, r.Status.Message = completed, &now, "pod has gone"
			_, err := n.requests.UpdateStatus(n.Context(), r, metav1.UpdateOptions{})
			n.must(err)
		},
		"deleted": func(n *node) { n.must(n.requests.Delete(n.Context(), "r", metav1.DeleteOptions{})) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.pod("web-0")
				n.start()
				n.runtime.SetDown(true)
				n.create("r", "web-0", only("main"))
				n.sleep(100 * time.Millisecond) // the phase is written, the runtime is down
				n.api.Hold("containerrecreaterequests")
				end(n)
				n.runtime.SetDown(false)
				n.sleep(10 * time.Second)
				n.want("no stop", nil, n.stops())
				n.api.Release("containerrecreaterequests")
				n.sleep(10 * time.Second)
				n.want("no stop", nil, n.stops())
				if r, err := n.requests.Get(n.Context(), "r", metav1.GetOptions{}); !apierrors.IsNotFound(err) && (err != nil || r.Status.Message != "pod has gone") {
					n.Errorf("request %v, error %v", r, err)
				}
			})
		})
	}
}

// An agent that is started finds requests in every state, and every one ends.
func TestStoryAgentStartsAmongMany(t *testing.T) {
	play(t, func(n *node) {
		n.startup = time.Second
		n.pod("web-0")
		n.pod("web-1")
		n.start()
		n.create("a", "web-0", only("main"), forced)
		n.create("b", "web-0", only("main"), forced)
		n.create("c", "web-1", ordered)
		n.stopAgent()
		n.create("d", "web-0", only("side"))
		n.create("e", "web-1", only("main"))
		n.work(3 * time.Second)
		n.start()
		n.work(30 * time.Second)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			if r := n.get(name); r.Status.CompletionTime == nil || r.Status.Message != "" {
				n.Errorf("request %s: %s", name, showStatus(&r.Status))
			}
		}
		n.want("web-0", []string{"main 2", "side 1"}, n.restarts("web-0"))
		n.want("web-1", []string{"main 1", "side 1"}, n.restarts("web-1"))
	})
}

// Requests of other nodes, and those that are not active, are not the agent's business
// here. The controller in the cluster ends those that no agent answers.
func TestStoryOthers(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.pod("elsewhere", func(pod *corev1.Pod) { pod.Spec.NodeName = "node-2" })
		n.start()
		n.create("r", "elsewhere", only("main"))
		n.sleep(30 * time.Second)
		n.want("CRR-5.1: requests of another node", nil, append(n.stops(), n.sent()...))
		n.sleep(time.Minute)
		n.is("r", "Completed: daemon has not responded for a long time")
	})
}

// A pod that is gone leaves nothing to stop, and its request is completed by the
// controller in the cluster.
func TestStoryPodGone(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.create("r", "web-0", only("main"), unready(10))
		n.work(5 * time.Second)
		n.must(n.kube.CoreV1().Pods("default").Delete(n.Context(), "web-0", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		n.sleep(time.Minute)
		n.is("r", "Completed: pod has gone")
		n.want("no stop", nil, n.stops())
		n.must(n.requests.Delete(n.Context(), "r", metav1.DeleteOptions{}))
	})
}
