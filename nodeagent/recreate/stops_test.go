// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// A stop takes as long as the container likes; meanwhile other requests are
// answered, and deadlines pass.
func TestStoryLongStop(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.start()
		n.runtime.SetEndsAfter("main-1", 3*time.Minute)
		n.create("long", "web-0", only("main"), grace(600), func(r *v1alpha1.ContainerRecreateRequest) { r.Spec.ActiveDeadlineSeconds = new(int64(60)) })
		n.create("next", "web-0", only("side"))
		n.work(50 * time.Second)
		n.is("next", "Pending")
		n.work(70 * time.Second)
		n.is("long", "Completed: recreating has exceeded the activeDeadlineSeconds, main Pending")
		n.is("next", "Completed, side Succeeded killed")
		n.want("CRR-5.5.6: nobody waits any more", []string{"StopContainer main-1 600s", "StopContainer side-2 30s"}, n.stops())
		n.work(2 * time.Minute)
		n.is("long", "Completed: recreating has exceeded the activeDeadlineSeconds, main Pending")
		n.want("it ends by itself", []string{"main 1", "side 1"}, n.restarts("web-0"))
	})
}

// A request that is gone or completed ends the wait for its container, even if it has
// asked for years. The worker is free for others then. (CRR-5.5.6)
func TestStoryEndlessStop(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	deletes := func(n *node) { n.must(n.requests.Delete(n.Context(), "long", metav1.DeleteOptions{})) }
	for name, test := range map[string]struct {
		pod  func(*corev1.Pod)
		end  func(*node)
		want []string // of web-0
	}{
		"deleted while the container ends": {func(*corev1.Pod) {}, deletes, []string{"StopContainer main-1 86400s"}},
		"deleted while its hook runs": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("hang")}
		}, deletes, []string{"ExecSync main-1 hang"}},
		"deleted, and there again under its name": {func(*corev1.Pod) {}, func(n *node) {
			deletes(n)
			n.create("long", "web-0", only("side"))
		}, []string{"StopContainer main-1 86400s", "StopContainer side-2 30s"}},
		"its pod goes": {func(*corev1.Pod) {}, func(n *node) {
			n.must(n.kube.CoreV1().Pods("default").Delete(n.Context(), "web-0", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
		}, []string{"StopContainer main-1 86400s"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.runtime.Command = func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				n.pod("web-0", test.pod)
				n.pod("web-1")
				n.workers = 1
				n.start()
				n.runtime.SetEndsAfter("main-1", years)
				n.create("long", "web-0", only("main"), grace(int64(years/time.Second)))
				n.work(time.Minute)
				test.end(n)
				n.sleep(5 * time.Second)
				n.want("of web-0", test.want, n.stops())
				n.create("next", "web-1", only("main"))
				n.work(20 * time.Second)
				n.is("next", "Completed, main Succeeded killed")
			})
		})
	}
}

// When all workers wait for the ends of containers, requests for other pods are
// answered nevertheless, and have their turn.
func TestStoryBusy(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.pod("web-1")
		n.workers = 1
		n.start()
		n.runtime.SetEndsAfter("main-1", 3*time.Minute)
		n.create("long", "web-0", only("main"), grace(600))
		n.sleep(time.Second)
		n.create("next", "web-1", only("main"))
		n.sleep(time.Second)
		n.create("last", "web-1", only("side"))
		n.work(2 * time.Minute)
		n.is("next", "Pending: waits for a worker of the node agent: containers of other pods are being stopped, of default (1)")
		n.is("last", "Pending")
		n.work(2 * time.Minute)
		for name, want := range map[string]string{"long": "main", "next": "main", "last": "side"} {
			n.is(name, "Completed, "+want+" Succeeded killed")
		}
		n.want("stops", []string{"StopContainer main-1 600s", "StopContainer main-3 30s", "StopContainer side-4 30s"}, n.stops())
	})
}

// A request whose turn has come, when the one before it was deleted, says whom it waits for. (CRR-5.1)
func TestStoryBusyThen(t *testing.T) {
	play(t, func(n *node) {
		n.pod("web-0")
		n.pod("web-1")
		n.workers = 1
		n.start()
		n.create("first", "web-1", only("main"), unready(600))
		n.work(5 * time.Second)
		n.create("second", "web-1", only("side"))
		n.runtime.SetEndsAfter("main-1", 3*time.Minute)
		n.create("long", "web-0", only("main"), grace(600))
		n.work(30 * time.Second)
		n.must(n.requests.Delete(n.Context(), "first", metav1.DeleteOptions{}))
		n.work(8 * time.Second)
		n.is("second", "Pending")
		n.work(4 * time.Second)
		n.is("second", "Pending: waits for a worker of the node agent: containers of other pods are being stopped, of default (1)")
		n.work(4 * time.Minute)
		n.is("second", "Completed, side Succeeded killed")
	})
}

// A namespace whose containers do not end leaves workers to others. (CRR-5.1)
func TestStoryShare(t *testing.T) {
	play(t, func(n *node) {
		n.stopManager() // it knows of no pods in other namespaces here
		n.workers = 4
		n.start()
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			n.pod(name)
			main := n.containerOf(name)
			n.runtime.SetEndsAfter(main, time.Hour)
			n.forge(name, name, names(string(n.getPod(name).UID), "main", main), grace(7200))
		}
		n.sleep(time.Minute)
		if got := n.stops(); len(got) != 3 {
			t.Errorf("of a namespace with 5 requests %q are being stopped, want 3", got)
		}
		waiting := map[string]int{}
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			waiting[n.get(name).Status.Message]++
		}
		if n := waiting["waits for a worker of the node agent: containers of other pods are being stopped, of default (3)"]; n != 2 || waiting[""] != 3 {
			t.Errorf("%d say who waits for whom, want 2: %v", n, waiting)
		}
		other := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "db-0", UID: "db"},
			Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "db", Image: "db:1"}}},
		}
		n.must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(other))
		r := newRequest("r", names("db", "db", "db-11"))
		r.Namespace, r.UID, r.ResourceVersion, r.Spec.PodName = "other", "", "", "db-0"
		_, err := n.lifecycle("test").ContainerRecreateRequests("other").Create(n.Context(), r, metav1.CreateOptions{})
		n.must(err)
		n.sleep(5 * time.Second)
		n.want("another namespace", []string{"StopContainer db-11 30s"}, n.stops())
		n.sleep(3 * time.Hour)
		if got := n.stops(); len(got) != 2 {
			t.Errorf("then %q are stopped, want the other 2", got)
		}
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			if r := n.get(name); r.Status.Message != "" {
				t.Errorf("in the end %s says %q", name, r.Status.Message)
			}
		}
	})
}

// containerOf returns the ID of the container main of a pod.
func (n *node) containerOf(pod string) string {
	n.Helper()
	_, id, _ := nodeagent.SplitContainerID(n.getPod(pod).Status.ContainerStatuses[0].ContainerID)
	return id
}

// While a hook or a stop is under way the container is Pending, and not killed. (CRR-5.3.7)
func TestStoryUnderWay(t *testing.T) {
	for name, test := range map[string]struct {
		with []edit
		then string
	}{
		"the hook and the stop return": {nil, "Recreating, main Recreating killed, side Pending"},
		"with force":                   {[]edit{forced}, "Recreating, main Recreating killed, side Pending"},
		"the deadline comes first":     {[]edit{ends(3)}, "Completed: recreating has exceeded the activeDeadlineSeconds, main Pending, side Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.runtime.Command = func(ctx context.Context, _ fakecri.Container, _ []string) (*criv1.ExecSyncResponse, error) {
					select {
					case <-ctx.Done():
					case <-time.After(8 * time.Second):
					}
					return &criv1.ExecSyncResponse{}, ctx.Err()
				}
				n.startup = time.Minute
				n.pod("web-0", func(pod *corev1.Pod) { pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: hook("bye")} })
				n.start()
				n.runtime.SetEndsAfter("main-1", 5*time.Second)
				n.create("r", "web-0", append(test.with, ordered)...)
				n.work(2 * time.Second)
				n.is("r", "Recreating, main Pending, side Pending") // the hook
				if len(test.with) == 0 {
					n.work(8 * time.Second)
					n.is("r", "Recreating, main Pending, side Pending") // the stop
				}
				n.work(15 * time.Second)
				n.is("r", test.then)
			})
		})
	}
}
