// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/tests/cluster"
)

const orphanEnv = "PODWRIGHT_TEST_PARENT"

// These tests hold components up, so they do not run beside others: none of them is parallel.

func TestNodesAreSpreadOverZones(t *testing.T) {
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var zones []string
	for _, node := range nodes.Items {
		zones = append(zones, node.Labels[corev1.LabelTopologyZone])
		if node.Labels[corev1.LabelHostname] != node.Name {
			t.Errorf("node %s has the labels %v", node.Name, node.Labels)
		}
	}
	slices.Sort(zones)
	if want := []string{"zone-a", "zone-b", "zone-c"}; !slices.Equal(zones, want) {
		t.Errorf("zones %v, want %v", zones, want)
	}
}

func TestVersionIsTold(t *testing.T) {
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.Minor != "37" || !strings.HasPrefix(version.GitVersion, "v1.37.") {
		t.Errorf("the API server is %s", version)
	}
}

func TestAuditLogHasEveryRequestOnce(t *testing.T) {
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", nil)
	log, err := os.ReadFile(shared.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	creations := 0
	lines := bufio.NewScanner(bytes.NewReader(log))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb      string
			ObjectRef struct{ Resource, Subresource, Namespace, Name string }
			User      struct{ Username string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		ref := event.ObjectRef
		if event.Verb == "create" && ref.Resource == "pods" && ref.Subresource == "" && ref.Namespace == namespace {
			creations++
			if event.User.Username != "podwright:admin" {
				t.Errorf("the pod was created by %s", event.User.Username)
			}
		}
	}
	if creations != 1 {
		t.Errorf("the creation of %s is logged %d times", pod.Name, creations)
	}
}

func TestKillAndRestart(t *testing.T) {
	namespace := newNamespace(t)
	before := newPod(t, namespace, "web:1", nil)
	eventuallyPod(t, namespace, before.Name, "ready", isReady)
	for _, component := range []string{
		cluster.APIServer, cluster.Etcd, cluster.ControllerManager, cluster.Scheduler, cluster.Kwok,
	} {
		t.Run(component, func(t *testing.T) {
			if err := shared.Kill(component); err != nil {
				t.Fatal(err)
			}
			select {
			case <-shared.Done(component):
			default:
				t.Error("killed, but not done")
			}
			if err := shared.Restart(t.Context(), component); err != nil {
				t.Fatal(err)
			}
			pod := newPod(t, namespace, "web:1", nil)
			pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
			old := eventuallyPod(t, namespace, before.Name, "ready", isReady)
			if pod.Status.PodIP == old.Status.PodIP {
				t.Errorf("two pods have the address %s", pod.Status.PodIP)
			}
		})
	}
}

// A pod whose containers start while the API server or its store is away is not forgotten.
func TestPodsUnderWaySurviveAnOutage(t *testing.T) {
	namespace := newNamespace(t)
	for _, component := range []string{cluster.APIServer, cluster.Etcd} {
		var pods []*corev1.Pod
		for range 20 {
			pods = append(pods, newPod(t, namespace, "web:1", nil))
		}
		if err := shared.Kill(component); err != nil {
			t.Fatal(err)
		}
		// The outage lasts longer than the start of a container, so that its report falls into it.
		time.Sleep(2 * time.Second)
		if err := shared.Restart(t.Context(), component); err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods {
			eventuallyPod(t, namespace, pod.Name, "ready", isReady)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	if err := shared.Pause(cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused API server answers: %v", err)
	}
	if err := shared.Resume(cluster.APIServer); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", nil)
	eventuallyPod(t, namespace, pod.Name, "ready", isReady)
}

func TestUnknownComponent(t *testing.T) {
	for name, err := range map[string]error{
		"Kill":    shared.Kill("kubelet"),
		"Restart": shared.Restart(t.Context(), "kubelet"),
		"Pause":   shared.Pause("kubelet"),
		"Resume":  shared.Resume("kubelet"),
	} {
		if err == nil || !strings.Contains(err.Error(), cluster.APIServer) {
			t.Errorf("%s: the error does not name the components: %v", name, err)
		}
	}
}

// A directory of one's own is kept, and its objects are there again.
func TestDirIsKept(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		c, err := cluster.Start(t.Context(), cluster.Options{Nodes: -1, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Stop()
		own := kubernetes.NewForConfigOrDie(c.Config())
		if i == 0 {
			_, err = own.CoreV1().ConfigMaps("default").Create(t.Context(),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mark"}}, metav1.CreateOptions{})
		} else {
			_, err = own.CoreV1().ConfigMaps("default").Get(t.Context(), "mark", metav1.GetOptions{})
		}
		if err != nil {
			t.Error(err)
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStartFailsWithTheLog(t *testing.T) {
	dir := t.TempDir()
	_, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, APIServerArgs: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("the error does not tell why: %v", err)
	}
	if left := processesIn(dir); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}

// beParent is what this test binary does as the child of TestKilledParentLeavesNothing. It runs a cluster with one component
// paused, and waits to be killed.
func beParent() {
	c, err := cluster.Start(context.Background(), cluster.Options{Nodes: -1})
	if err == nil {
		err = c.Pause(cluster.Etcd)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.Dir())
	select {}
}

func TestKilledParentLeavesNothing(t *testing.T) {
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), orphanEnv+"=1")
	parent.Stderr = os.Stderr
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(line)
	if len(processesIn(dir)) != 5 {
		t.Errorf("processes: %v", processesIn(dir))
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, func(context.Context) string {
		if left := processesIn(dir); len(left) > 0 {
			return fmt.Sprintf("processes left: %v", left)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("%s is left", dir)
		}
		return ""
	})
}
