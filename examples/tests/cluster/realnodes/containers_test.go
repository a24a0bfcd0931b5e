// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// inside runs a command in the pod's container.
func inside(t *testing.T, pod *corev1.Pod, command ...string) (string, error) {
	t.Helper()
	return shared.Exec(t.Context(), pod, "main", command...)
}

func TestExecAndLogs(t *testing.T) {
	t.Parallel()
	image := addImage(t, "v1", registry.Image{
		Env: []string{"COLOR=green"}, Files: map[string]string{"/motd": "hello\n"}, Cmd: []string{"/bin/sh", "-c", "cat /motd; sleep 1000"},
	})
	pod := newPod(t, newNamespace(t), image, nil)
	eventuallyPod(t, pod, "ready", isReady)
	eventually(t, func(context.Context) string { // a runtime that is busy gives a command up
		if out, err := inside(t, pod, "env"); err != nil || !strings.Contains(out, "COLOR=green\n") {
			return fmt.Sprintf("env: error %v, output\n%s", err, out)
		}
		return ""
	})
	eventually(t, func(ctx context.Context) string {
		log, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil || string(log) != "hello\n" {
			return fmt.Sprintf("logs: %q, error %v", log, err)
		}
		return ""
	})
}

// An image can have one program and nothing else.
func TestImageWithoutShell(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	pod := newPod(t, newNamespace(t), addImage(t, "v1", registry.Image{Programs: []string{"sleep"}}), nil)
	eventuallyPod(t, pod, "ready", isReady)
	for _, command := range []string{"sh", "env"} {
		if out, err := inside(t, pod, command); err == nil {
			t.Errorf("%s runs, and says %q", command, out)
		}
	}
}

func TestPodsOfTwoNodesReachEachOther(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	image := addImage(t, "v1", registry.Image{Files: map[string]string{"/index.html": "here"}})
	server := newPod(t, namespace, image, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Command = []string{"httpd", "-f", "-h", "/"}
	})
	caller := newPod(t, namespace, image, func(pod *corev1.Pod) { pod.Spec.NodeName = "real-1" })
	server = eventuallyPod(t, server, "ready", isReady)
	caller = eventuallyPod(t, caller, "ready", isReady)
	eventually(t, func(context.Context) string {
		if out, err := inside(t, caller, "wget", "-q", "-O", "-", "http://"+server.Status.PodIP+"/index.html"); err != nil || out != "here" {
			return fmt.Sprintf("got %q, error %v", out, err)
		}
		return ""
	})
}

// A process that is killed from outside is started again.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	pod := newPod(t, newNamespace(t), addImage(t, "v1", registry.Image{Entrypoint: []string{"sleep", "infinity"}}), nil)
	pod = eventuallyPod(t, pod, "ready", isReady)
	_, id, _ := strings.Cut(mainOf(pod).ContainerID, "://")
	processes := processesIn(id)
	if len(processes) != 1 {
		t.Fatalf("container %s has the processes %v, want one", id, processes)
	}
	if err := syscall.Kill(processes[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventuallyPod(t, pod, "restarted", func(pod *corev1.Pod) bool {
		last := mainOf(pod).LastTerminationState.Terminated
		return isReady(pod) && mainOf(pod).RestartCount == 1 && last != nil && last.ExitCode == 137
	})
}

// Commands run with the process IDs, addresses and mounts of the node.
func TestRunInside(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cat /proc/1/comm": "machine",
		"ip -o -4 address": node(t).IP,
		"ls /run":          "containerd",
	} {
		words := strings.Fields(command)
		var out bytes.Buffer
		inside := exec.CommandContext(t.Context(), words[0], words[1:]...)
		inside.Stdout = &out
		if err := node(t).Run(inside); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: error %v, output without %q:\n%s", command, err, want, out.String())
		}
	}
}

// Containers do not notice that what has started them is gone for a while. Not parallel: it would hold up other tests.
func TestContainersOutliveComponents(t *testing.T) {
	testbed.Long(t)
	namespace, image := newNamespace(t), addImage(t, "v1", registry.Image{})
	before := newPod(t, namespace, image, nil)
	before = eventuallyPod(t, before, "ready", isReady)
	for _, component := range []string{cluster.Containerd, cluster.Kubelet} {
		t.Run(component, func(t *testing.T) {
			if err := node(t).Kill(component); err != nil {
				t.Fatal(err)
			}
			if err := node(t).Restart(t.Context(), component); err != nil {
				t.Fatal(err)
			}
			pod := newPod(t, namespace, image, nil)
			eventuallyPod(t, pod, "ready", isReady)
			after := eventuallyPod(t, before, "ready", isReady)
			if mainOf(after).ContainerID != mainOf(before).ContainerID || mainOf(after).RestartCount != 0 {
				t.Errorf("the container was %v\nand is %v", mainOf(before), mainOf(after))
			}
			eventually(t, func(context.Context) string {
				if _, err := inside(t, after, "true"); err != nil {
					return fmt.Sprintf("exec: %v", err)
				}
				return ""
			})
		})
	}
}
