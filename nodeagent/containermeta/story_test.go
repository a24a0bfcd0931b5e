// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
)

// want compares what there is with what should be.
func (n *node) want(what string, want, got []string) {
	n.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		n.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// first is what is reported of the pod web-0 when it has started: the hash of
// the kubelet over name and image.
var first = []string{"main containerd://main-1 0 a072de83 143497458", "side containerd://side-2 0 31377219 86995377"}

func TestStoryReport(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.create(newPod("other", func(pod *corev1.Pod) { pod.OwnerReferences = nil }))
		n.create(newPod("elsewhere", func(pod *corev1.Pod) { pod.Spec.NodeName = "node-2" }))
		n.sleep("10s")
		n.want("CM-3: a new pod", first, n.report("web-0"))
		n.want("CM-2: other pods", nil, append(n.report("other"), n.report("elsewhere")...))
		n.want("one write, one environment", []string{"1 ContainerStatus", "1 ListContainers", "1 patch pods/status"}, n.sent())

		n.patch("web-0", `{"status":{"hostIP":"10.1.0.1","conditions":[{"type":"Ready","status":"True"}]}}`, "status")
		n.patch("web-0", `{"metadata":{"labels":{"some":"label"}}}`)
		n.sleep("10s")
		n.want("a heartbeat", []string{}, n.sent())

		n.runtime.End("side-2", 1)
		n.sync("web-0")
		n.sleep("10s")
		n.want("a container that restarts", []string{first[0], "side containerd://side-7 1 31377219 86995377"}, n.report("web-0"))
		n.want("one write, no environment", []string{"1 ListContainers", "1 patch pods/status"}, n.sent())
	})
}

func TestStoryAgentStarts(t *testing.T) {
	play(t, func(n *node) {
		n.create(newPod("web-0"))
		n.create(newPod("web-1"))
		n.start()
		n.want("CM-2: pods without an annotation are left alone", []string{}, n.sent())
		n.patch("web-0", `{"metadata":{"labels":{"some":"label"}}}`)
		n.sleep("10s")
		n.want("CM-2: until they change", first, n.report("web-0"))
		n.want("one write", []string{"1 ContainerStatus", "1 ListContainers", "1 patch pods/status"}, n.sent())

		n.stop()
		n.start()
		n.want("a restart of the agent where annotations are right", []string{}, n.sent())

		n.stop()
		n.runtime.End("main-1", 1)
		n.sync("web-0")
		n.update("web-1", "2")
		n.start()
		if got := n.report("web-0"); len(got) != 2 || got[0] != "main containerd://main-5 1 a072de83 143497458" {
			n.Errorf("CM-2: a container that was restarted meanwhile: %v", got)
		}
		if got := n.report("web-1"); len(got) != 2 {
			n.Errorf("a pod without an annotation in an update: %v", got)
		}
	})
}

func TestStoryUpdate(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		n.patch("web-0", `{"metadata":{"annotations":{"version":"0"}}}`)
		n.sleep("1h")
		n.want("CM-6: nothing restarts outside of an update", nil, n.events.All())
		n.patch("web-0", `{"metadata":{"annotations":{"version":"1"}}}`)
		n.sent()

		n.update("web-0", "2")
		n.sleep("2900ms")
		n.want("CM-6: nothing before 3 s", []string{"1 ListContainers"}, n.sent())
		if n.complete("web-0") {
			n.Error("CM-5: the update is complete before the container is restarted")
		}
		n.sleep("200ms")
		n.want("CM-6: the stop", []string{"1 ListContainers", "1 StopContainer"}, n.sent())
		n.want("CM-6: the event", []string{"Normal Killing: Stopping containerID containerd://main by container meta restarter"}, n.events.All())
		about := []corev1.ObjectReference{{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web-0", UID: n.pod("web-0").UID, FieldPath: "implicitly required container main"}}
		if diff := cmp.Diff(about, n.events.About()); diff != "" {
			n.Errorf("CM-6: what the event is about (-want +got):\n%s", diff)
		}
		n.sync("web-0")
		n.sleep("10s")
		n.want("CM-6: the new container", []string{"main containerd://main-3 1 a072de83 1234991940", first[1]}, n.report("web-0"))
		if !n.complete("web-0") {
			n.Error("CM-5: the update is not complete")
		}
		n.sleep("1h")
		n.want("CM-6: once", []string{"1 ContainerStatus", "2 ListContainers", "1 patch pods/status"}, n.sent())
	})
}

// CM-E4: the annotation changes between the start of a container and its report.
func TestStoryChangeBeforeReport(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.update("web-0", "2")
		n.sleep("2s")
		n.want("CM-E4: the old value is reported", first, n.report("web-0"))
		n.sleep("3s")
		n.sync("web-0")
		n.sleep("5s")
		if !n.complete("web-0") || len(n.events.All()) != 1 {
			n.Errorf("CM-E4: complete %v, events %v", n.complete("web-0"), n.events.All())
		}
	})
}

// The hook runs, and the grace period is what the kubelet wrote down.
func TestStoryHook(t *testing.T) {
	play(t, func(n *node) {
		n.runtime.Command = func(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
			time.Sleep(4 * time.Second)
			return &criv1.ExecSyncResponse{ExitCode: 1}, nil
		}
		n.start()
		n.create(newPod("web-0", func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bye"}}}}
		}))
		n.sleep("10s")
		n.runtime.ForgetCalls()
		n.update("web-0", "2")
		n.sleep("20s")
		n.want("CM-6: hook and stop", []string{"ListContainers", "ListContainers", "ExecSync main-1 bye", "StopContainer main-1 26s", "ListContainers"}, n.runtime.Calls())
		n.want("CM-6: events", []string{
			"Normal Killing: Stopping containerID containerd://main by container meta restarter",
			"Warning FailedPreStopHook: preStop hook failed, the container is stopped nevertheless; the log of the node agent says why",
		}, n.events.All())
	})
}

// An update that is taken back before the stop leaves the container alone.
func TestStoryUpdateTakenBack(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		n.update("web-0", "2")
		n.sleep("1s")
		n.update("web-0", "1")
		n.sleep("1h")
		n.want("events", nil, n.events.All())
		if !n.complete("web-0") {
			n.Error("the update is not complete")
		}
	})
}

// The agent ends in the middle of a stop; the next one does it again.
func TestStoryAgentEndsInTheMiddle(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		n.runtime.SetEndsAfter("main-1", 20*time.Second)
		n.update("web-0", "2")
		n.sleep("5s")
		n.stop() // it would take 20 s if it waited for the container
		n.runtime.ForgetCalls()
		n.sleep("1s")
		n.start()
		n.sleep("1m")
		n.sync("web-0")
		n.sleep("5s")
		if !n.complete("web-0") {
			n.Errorf("the update is not complete; calls %v", n.runtime.Calls())
		}
	})
}

// Reports go on while containers take their time to stop.
func TestStoryStopsHoldNothingUp(t *testing.T) {
	play(t, func(n *node) {
		n.options.Workers, n.options.RestartWorkers = 1, 1
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		n.runtime.SetEndsAfter("main-1", 25*time.Second)
		n.update("web-0", "2")
		n.sleep("5s")
		n.create(newPod("web-1"))
		n.sleep("2s")
		if n.report("web-1") == nil {
			n.Error("a new pod is not reported while a container of another one is being stopped")
		}
	})
}

// A stop that fails is tried again: after 6 s, 12 s and so on.
func TestStoryStopFails(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		start, times := time.Now(), []string{}
		n.runtime.FailWith(func(method string) error {
			if method == "StopContainer" {
				times = append(times, time.Since(start).Round(time.Second).String())
				return errors.New("cannot stop")
			}
			return nil
		})
		n.update("web-0", "2")
		n.sleep("15m")
		n.want("CM-6: tries", []string{"3s", "9s", "21s", "45s", "1m33s", "3m9s", "6m21s", "12m45s"}, times)
	})
}

// The runtime is away for a while; what was left to do is done when it is back.
func TestStoryRuntimeIsRestarted(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		n.runtime.SetDown(true)
		n.create(newPod("web-1"))
		n.update("web-0", "2")
		n.sleep("2m")
		n.want("meanwhile", nil, append(n.events.All(), n.report("web-1")...))
		n.runtime.SetDown(false)
		n.sleep("1m")
		n.sync("web-0")
		n.sleep("10s")
		if !n.complete("web-0") || n.report("web-1") == nil {
			n.Errorf("complete %v, report %v", n.complete("web-0"), n.report("web-1"))
		}
	})
}

// The API server is away, or loses an answer; nothing is reported twice.
func TestStoryServerFails(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.sent()
		patches := 0
		n.api.FailBefore(func(r fakecluster.Request) error {
			if r.User == agentUser && r.Verb == "patch" {
				return apierrors.NewServiceUnavailable("away")
			}
			return nil
		})
		n.create(newPod("web-0"))
		n.sleep("30s")
		n.want("meanwhile", nil, n.report("web-0"))
		n.api.FailBefore(nil)
		n.api.FailAfter(func(r fakecluster.Request) error {
			if r.User == agentUser && r.Verb == "patch" {
				patches++
				return errors.New("connection lost")
			}
			return nil
		})
		n.sleep("2m")
		n.want("afterwards", first, n.report("web-0"))
		if patches != 1 {
			n.Errorf("%d patches were made, want the one whose answer was lost", patches)
		}
	})
}

// A stale cache costs no second write.
func TestStoryStaleCache(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("500ms")
		n.api.Hold("pods")
		n.sleep("2s")
		if after, err := n.agent.Reconcile(n.Context(), types.NamespacedName{Namespace: "default", Name: "web-0"}); after == 0 || err != nil {
			n.Errorf("a reconcile on a stale cache asks to be called again after %v, error %v", after, err)
		}
		n.sleep("10s")
		n.api.Release("pods")
		n.sleep("10s")
		n.want("one write", []string{"1 ContainerStatus", "1 ListContainers", "1 patch pods/status"}, n.sent())
		// CT-12: what is remembered of a pod is kept as long as there is one, also while all is reported.
		if s, err := n.agent.Snapshot(n.Context(), types.NamespacedName{Namespace: "default", Name: "web-0"}); s == nil || err != nil {
			n.Errorf("a pod whose report stands is taken for one that is gone: error %v", err)
		}
	})
}

// A pod of the same name takes the place of one that is gone.
func TestStoryPodIsReplaced(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("10s")
		zero := int64(0)
		n.must(n.kube.CoreV1().Pods("default").Delete(n.Context(), "web-0", metav1.DeleteOptions{GracePeriodSeconds: &zero}))
		n.create(newPod("web-0"))
		n.sleep("10s")
		if got := n.report("web-0"); len(got) != 2 || got[0] == first[0] {
			n.Errorf("reported %v", got)
		}
	})
}

// CM-E1: a runtime that tells no environments, and an image without env.
func TestStoryNoEnvironment(t *testing.T) {
	play(t, func(n *node) {
		n.runtime.Silent, n.runtime.Command = true, fakecri.NoCommand
		n.start()
		n.create(newPod("web-0"))
		n.sleep("1h")
		n.want("CM-E1: the hash is absent", []string{"main containerd://main-1 0 a072de83 0", first[1]}, n.report("web-0"))
		n.want("CM-E1: recorded once", []string{"Warning FailedReadEnvironment: the environment of container main is not known, so an in-place update of it by labels or annotations cannot complete: " +
			"the runtime tells no environments, and the container does not either: container runtime unix:///run/test.sock: run a command in container main-1: " +
			"rpc error: code = Unknown desc = failed to exec in container: exec: \"env\": executable file not found in $PATH"}, n.events.All())
		n.want("CM-E1: tried less and less often", []string{"13 ContainerStatus", "13 ExecSync", "14 ListContainers", "1 patch pods/status"}, n.sent())
	})
}

// A runtime that tells no environments: the container is asked.
func TestStoryAsksTheContainer(t *testing.T) {
	for name, run := range map[string]func(context.Context, fakecri.Container, []string) (*criv1.ExecSyncResponse, error){
		"with zero bytes": fakecri.Env,
		"with lines": func(ctx context.Context, c fakecri.Container, command []string) (*criv1.ExecSyncResponse, error) {
			if len(command) > 1 {
				return &criv1.ExecSyncResponse{ExitCode: 1, Stderr: []byte("env: invalid option -- '0'")}, nil
			}
			return fakecri.Env(ctx, c, command)
		},
	} {
		t.Run("CM-4.1: "+name, func(t *testing.T) {
			play(t, func(n *node) {
				n.runtime.Silent, n.runtime.Command = true, run
				n.start()
				n.create(newPod("web-0"))
				n.sleep("10s")
				n.want("report", first, n.report("web-0"))
			})
		})
	}
}

// CM-E2: a value with line breaks and blanks restarts nothing.
func TestStoryLineBreaks(t *testing.T) {
	for name, silent := range map[string]bool{"recorded": false, "asked": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.runtime.Silent = silent
				n.start()
				n.create(newPod("web-0", annotated("version", " 1\nB=2 \n")))
				n.sleep("10s")
				n.update("web-0", " 1\nB=2 \n")
				n.sleep("1h")
				n.want("CM-E2: events", nil, n.events.All())
				if !n.complete("web-0") {
					n.Error("CM-E2: the update is not complete")
				}
			})
		})
	}
}
