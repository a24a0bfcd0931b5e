// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

const (
	pullingNginx = "nginx:1 v1 Pulling 0%"
	hasNginx     = "nginx:1 v1 Succeeded 100% nginx@sha256:nginx:1"
)

func TestStoryPull(t *testing.T) {
	play(t, func(n *node) {
		n.takes(5 * time.Minute)
		n.start()
		n.expect("IMG-2.4 difference: reported when it begins", "desired 1 succeeded 0 failed 0 pulling 1", pullingNginx)
		n.sleep(4*time.Minute + 59*time.Second)
		n.want("one write", []string{"1 patch nodeimages/status"}, n.sent())
		n.sleep(2 * time.Second)
		n.expect("IMG-3.3: a success", "desired 1 succeeded 1 failed 0 pulling 0", hasNginx)
		n.want("IMG-3.3: the event, sic", []string{"Normal PullImageSucceed: Image nginx:1, ecalpsedTime 5m0s"}, n.events.All())
		n.want("one write", []string{"1 patch nodeimages/status"}, n.sent())
		n.want("IMG-3.3: one pull", []string{"nginx:1"}, n.pulls())

		n.patchLabels()
		n.sleep(24 * time.Hour)
		n.want("IMG-3.4 difference: nothing is refreshed", nil, n.sent())
		n.want("nor is the runtime asked", nil, n.runtime.Calls())
	}, wants("nginx", "1"))
}

// patchLabels changes what no plan depends on.
func (n *node) patchLabels() {
	n.Helper()
	n.edit(func(nodeImage *v1alpha1.NodeImage) { nodeImage.Labels = map[string]string{"zone": "a"} })
	n.sent()
}

// IMG-3.1: the agent watches its own NodeImage, and no secret.
func TestStoryFeed(t *testing.T) {
	play(t, func(n *node) {
		other := newNodeImage(wants("redis", "7"))
		other.Name, other.UID = "node-2", ""
		_, err := n.images.Create(n.Context(), other, metav1.CreateOptions{})
		n.must(err)
		n.start()
		n.sleep(time.Minute)
		n.want("pulls", []string{"nginx:1"}, n.pulls())
		for _, request := range n.api.Requests(n.user()) {
			if request.Verb == "list" || request.Verb == "watch" {
				if request.Resource != "nodeimages" {
					n.Errorf("the agent watches %s", request.Resource)
				}
			}
			if request.Verb != "list" && request.Verb != "watch" && request.Name != n.name {
				n.Errorf("request %s %s %s", request.Verb, request.Resource, request.Name)
			}
		}
	}, wants("nginx", "1"))
}

func TestStoryTaskIsTakenAway(t *testing.T) {
	play(t, func(n *node) {
		ended := time.Duration(0)
		start := time.Now()
		n.runtime.Pull = func(ctx context.Context, _ *criv1.PullImageRequest) error {
			<-ctx.Done()
			ended = time.Since(start).Truncate(time.Second)
			return ctx.Err()
		}
		n.start()
		n.sleep(10 * time.Second)
		n.edit(no("nginx"))
		n.sleep(time.Hour)
		if ended != 10*time.Second {
			n.Errorf("IMG-3.2: the pull ended after %v", ended)
		}
		n.expect("IMG-3.2: nothing is reported", "desired 0 succeeded 0 failed 0 pulling 0")
		n.want("events", nil, n.events.All())

		n.edit(wants("nginx", "1"))
		n.sleep(time.Second)
		n.must(n.images.Delete(n.Context(), n.name, metav1.DeleteOptions{}))
		n.sleep(time.Second)
		if len(controller.KindOf(n.agent).Self.(*reconciler).pulls.list()) > 0 {
			n.Error("pulls go on without a NodeImage")
		}
	}, wants("nginx", "1"))
}

// IMG-2.4: the manager has failed a task; the agent cancels its pull.
func TestStoryWatchdog(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Hour)
		n.start()
		n.sleep(10 * time.Second)
		n.patchStatus(`{"status":{"pulling":0,"failed":1,"imageStatuses":{"nginx":{"tags":[{"tag":"1","version":1,"phase":"Failed","completionTime":"2026-01-02T03:04:05Z","message":"x"}]}}}}`)
		n.sleep(2 * time.Hour)
		n.expect("IMG-2.4: it stays failed", "desired 1 succeeded 0 failed 1 pulling 0", "nginx:1 v1 Failed 0% (x)")
	}, wants("nginx", "1"))
}

func TestStoryFailures(t *testing.T) {
	play(t, func(n *node) {
		start, times := time.Now(), []string{}
		n.runtime.Pull = func(context.Context, *criv1.PullImageRequest) error {
			times = append(times, time.Since(start).Truncate(time.Second).String())
			return errors.New("manifest unknown")
		}
		n.start()
		n.sleep(3 * time.Second)
		n.expect("IMG-2.5 difference: why it takes its time",
			"nginx:1 v1 Pulling 0% (container runtime unix:///run/test.sock: pull image nginx:1: rpc error: code = Unknown desc = manifest unknown)")
		n.sleep(time.Hour)
		n.want("IMG-3.3: attempts", []string{"0s", "1s", "3s", "7s", "15s"}, times)
		message := "container runtime unix:///run/test.sock: pull image nginx:1: rpc error: code = Unknown desc = manifest unknown"
		n.expect("IMG-3.3: failed for good", "desired 1 succeeded 0 failed 1 pulling 0", "nginx:1 v1 Failed 0% ("+message+")")
		n.want("IMG-3.3: events, also on the owners", []string{"Warning PullImageFailed: Image nginx:1, " + message, "Warning PullImageFailed: Image nginx:1, " + message + " on node node-1"}, n.events.All())
		n.want("a write when it begins, one with the reason, one at the end", []string{"3 patch nodeimages/status"}, n.sent())
	}, wants("nginx", "1", backoffLimit(4), func(t *v1alpha1.ImageTagSpec) {
		t.OwnerReferences = []corev1.ObjectReference{{APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImagePullJob", Namespace: "default", Name: "pull", UID: "job"}}
	}))
}

func TestStoryTimeoutAndDeadline(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Hour)
		n.start()
		n.sleep(10 * time.Minute)
		n.expect("IMG-3.3: results",
			"a:1 v1 Failed 0% (pulling image a:1 is canceled: it has taken longer than 20s)",
			"b:1 v1 Failed 0% (pulling exceeds the activeDeadlineSeconds)")
		n.want("IMG-3.3: attempts", []string{"a:1", "a:1", "b:1"}, sorted(n.pulls()))
		want := []string{"Warning PullImageFailed: Image a:1, pulling image a:1 is canceled: it has taken longer than 20s", "Warning PullImageFailed: Image b:1, pulling exceeds the activeDeadlineSeconds"}
		n.want("events", want, sorted(n.events.All()))
	}, wants("a", "1", timeout(20), backoffLimit(1)), wants("b", "1", deadline(90)))
}

// A runtime is told of the deadline, and may notice it before the agent does.
func TestStoryTimeoutThatTheRuntimeNoticesFirst(t *testing.T) {
	play(t, func(n *node) {
		n.runtime.Pull = func(ctx context.Context, _ *criv1.PullImageRequest) error {
			deadline, _ := ctx.Deadline()
			time.Sleep(time.Until(deadline) - time.Millisecond)
			return status.Error(codes.DeadlineExceeded, "canceled")
		}
		n.start()
		n.sleep(time.Minute)
		n.expect("IMG-3.3: results", "a:1 v1 Failed 0% (pulling image a:1 is canceled: it has taken longer than 20s)")
	}, wants("a", "1", timeout(20), backoffLimit(0)))
}

func TestStoryManyAtOnce(t *testing.T) {
	all := []change{}
	for i := range 20 {
		all = append(all, wants(fmt.Sprintf("i%02d", i), "1"))
	}
	play(t, func(n *node) {
		n.options.Concurrency = 4
		var lock sync.Mutex
		running, most, ends := 0, 0, map[time.Time]bool{}
		n.runtime.Pull = func(context.Context, *criv1.PullImageRequest) error {
			lock.Lock()
			running++
			most = max(most, running)
			lock.Unlock()
			time.Sleep(time.Minute)
			lock.Lock()
			defer lock.Unlock()
			running--
			ends[time.Now()] = true
			return nil
		}
		n.start()
		if status := n.nodeImage().Status; status.Pulling != 20 {
			n.Errorf("IMG-2.4 difference: %d are reported at once, want those too that wait", status.Pulling)
		}
		n.sleep(6 * time.Minute)
		if status := n.nodeImage().Status; status.Succeeded != 20 || most != 4 {
			n.Errorf("succeeded %d, at most %d at once", status.Succeeded, most)
		}
		writes, sent := 0, n.sent()
		// A slot that is free is given away at once or 100 ms later, as goroutines run: then pulls end at different times.
		if _, err := fmt.Sscanf(sent[0], "%d patch nodeimages/status", &writes); err != nil || len(sent) != 1 || writes > 2+len(ends) || len(ends) > 10 {
			n.Errorf("IMG-3.4: sent %v for 20 pulls that end at %d times, want one for each time, one that they began, and one that some wait (IMG-3.13)", sent, len(ends))
		}
	}, all...)
}

// IMG-3.2 difference: an image that fails does not hold up the others.
func TestStoryNobodyIsHeldUp(t *testing.T) {
	play(t, func(n *node) {
		n.options.Concurrency = 1
		n.runtime.Pull = func(_ context.Context, request *criv1.PullImageRequest) error {
			if request.Image.Image == "a:1" {
				return errors.New("no route")
			}
			return nil
		}
		n.start()
		n.sleep(time.Second)
		n.want("pulls", []string{"a:1", "b:1", "a:1"}, n.pulls()[:3])
	}, wants("a", "1", createdAgo(time.Hour)), wants("b", "1"))
}

// The agent ends in the middle, and starts again.
func TestStoryAgentRestarts(t *testing.T) {
	play(t, func(n *node) {
		n.runtime.Pull = func(ctx context.Context, request *criv1.PullImageRequest) error {
			if request.Image.Image == "a:1" {
				return nil
			}
			n.takesOnce(ctx, time.Minute)
			return ctx.Err()
		}
		n.start()
		n.sleep(30 * time.Second)
		began := n.nodeImage().Status.ImageStatuses["b"].Tags[0].StartTime
		n.stop()
		n.runtime.AddImage(onNode("cc", "docker.io/library/c:1"))
		n.start()
		n.sleep(2 * time.Minute)
		n.want("no pull of what is there, and none is lost", []string{"b:1"}, n.pulls())
		n.expect("all are there", "desired 3 succeeded 3 failed 0 pulling 0", "a:1 v1 Succeeded 100% a@sha256:a:1", "b:1 v1 Succeeded 100% b@sha256:b:1", "c:1 v1 Succeeded 100% c@cc")
		if after := n.nodeImage().Status.ImageStatuses["b"].Tags[0].StartTime; !after.Equal(began) {
			n.Errorf("the start was %v, and is %v", began, after)
		}
		n.stop()
		n.sent()
		n.start()
		n.sleep(time.Hour)
		n.want("a start costs nothing", nil, append(n.sent(), n.runtime.Calls()...))
	}, wants("a", "1"), wants("b", "1"), wants("c", "1"))
}

func (n *node) takesOnce(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// The agent ends after a pull, before it can be reported.
func TestStoryAgentEndsBeforeTheReport(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.api.FailBefore(func(r fakecluster.Request) error {
			if r.User == n.user() {
				return apierrors.NewServiceUnavailable("away")
			}
			return nil
		})
		n.sleep(2 * time.Minute)
		n.stop()
		n.api.FailBefore(nil)
		n.pulls()
		n.start()
		n.sleep(2 * time.Second)
		n.expect("found", hasNginx)
		n.want("no second pull", nil, n.pulls())
	}, wants("nginx", "1"))
}

// The runtime is restarted in the middle of a pull. That costs no attempt.
func TestStoryRuntimeRestarts(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.sleep(10 * time.Second)
		n.runtime.SetDown(true)
		n.edit(wants("redis", "7", backoffLimit(0)))
		n.sleep(2 * time.Minute)
		n.expect("reported, though the runtime is away", "desired 2 succeeded 1 failed 0 pulling 1", "nginx:1 v1 Succeeded 100%", "redis:7 v1 Pulling 0%")
		n.runtime.SetDown(false)
		n.sleep(2 * time.Minute)
		n.expect("IMG-3.3 difference: no attempt is lost", "nginx:1 v1 Succeeded 100%", "redis:7 v1 Succeeded 100% redis@sha256:redis:7")

		n.runtime.SetDown(true)
		n.edit(wants("web", "1", backoffLimit(0), timeout(60)))
		n.sleep(10 * time.Minute)
		n.want("but not for ever", []string{"web:1 v1 Failed 0% (pulling image web:1 is canceled after 1m0s: container runtime unix:///run/test.sock does not answer " +
			"(pull image web:1): is it running, and may this process use its socket? rpc error: code = Unavailable desc = connection error: no such file or directory)"}, shown(&n.nodeImage().Status)[3:])
	}, wants("nginx", "1", backoffLimit(0)))
}

// The API server is away: pulls go on, and are reported when it is back.
func TestStoryServerIsAway(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.edit(wants("redis", "7"))
		n.sleep(10 * time.Second)
		n.api.FailBefore(func(r fakecluster.Request) error {
			if r.User == n.user() {
				return apierrors.NewServiceUnavailable("away")
			}
			return nil
		})
		n.sleep(10 * time.Minute)
		n.want("meanwhile", []string{"nginx:1", "redis:7"}, n.pulls())
		n.api.FailBefore(nil)
		n.sleep(time.Minute)
		n.expect("afterwards", hasNginx, "redis:7 v1 Succeeded 100% redis@sha256:redis:7")
		n.want("once", nil, n.pulls())
		if len(n.told()) != 2 {
			n.Errorf("events %v", n.events.All())
		}
	}, wants("nginx", "1"))
}

// told are the events about pulls: that a report was refused is another one. (CT-11)
func (n *node) told() []string {
	return slices.DeleteFunc(n.events.All(), func(event string) bool { return strings.HasPrefix(event, "Warning FailedUpdateStatus: ") })
}

// An answer that is lost, and a cache that is behind, cost nothing.
func TestStoryStaleCache(t *testing.T) {
	play(t, func(n *node) {
		lost := 0
		n.api.FailAfter(func(r fakecluster.Request) error {
			if r.User == n.user() && r.Verb == "patch" && lost == 0 {
				lost++
				return errors.New("connection lost")
			}
			return nil
		})
		n.takes(time.Minute)
		n.start()
		n.sleep(30 * time.Second)
		n.api.Hold("nodeimages")
		n.sleep(time.Minute)
		n.api.Release("nodeimages")
		n.sleep(10 * time.Second)
		n.expect("the end", hasNginx)
		n.want("pulls", []string{"nginx:1"}, n.pulls())
		n.want("writes", []string{"2 patch nodeimages/status"}, n.sent())
		if len(n.told()) != 1 {
			n.Errorf("events %v", n.events.All())
		}
	}, wants("nginx", "1"))
}

// A NodeImage of the same name takes the place of one that is gone.
func TestStoryNodeImageIsReplaced(t *testing.T) {
	play(t, func(n *node) {
		n.takes(time.Minute)
		n.start()
		n.must(n.images.Delete(n.Context(), n.name, metav1.DeleteOptions{}))
		n.create(wants("nginx", "1"))
		n.sleep(2 * time.Minute)
		n.expect("reported on the new one", hasNginx)
	}, wants("nginx", "1"))
}
