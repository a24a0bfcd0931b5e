// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/cluster/registry"
)

const orphanEnv = "PODWRIGHT_TEST_PARENT"

// startWithPod starts a cluster with one real node, and a pod on it.
func startWithPod(ctx context.Context, o cluster.Options) (*cluster.Cluster, error) {
	o.RealNodes = 1
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.Images().Add("app:v1", registry.Image{}); err != nil {
		return c, err
	}
	return c, awaitPod(ctx, c)
}

// awaitPod waits for the pod named app, which it makes if there is none.
func awaitPod(ctx context.Context, c *cluster.Cluster) error {
	pods := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Pods("default")
	_, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "app"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "app:v1"}}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	watch, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if pod, ok := event.Object.(*corev1.Pod); ok && isReady(pod) && exists(pod) {
			return nil
		}
	}
	return errors.New("the watch of pods has ended")
}

// processesIn returns the processes of this machine that are in a control group with the text in its name.
func processesIn(group string) []int {
	var found []int
	lists, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, list := range lists {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(list)))
		if err != nil {
			continue
		}
		if text, err := os.ReadFile(list); err == nil && strings.Contains(string(text), group) {
			found = append(found, pid)
		}
	}
	return found
}

// traces returns what there is of a cluster on this machine: processes in its control groups, mounts, the bridge, control groups,
// its directory.
func traces(bridge, dir string) []string {
	var found []string
	groups := "podwright." + strings.TrimPrefix(bridge, "podwright") + "."
	for _, pid := range processesIn(groups) {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		found = append(found, "process "+strings.TrimSpace(string(name)))
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(string(mounts), dir) {
		found = append(found, "mounts in "+dir)
	}
	if _, err := net.InterfaceByName(bridge); err == nil {
		found = append(found, "link "+bridge)
	}
	for _, pattern := range []string{"/sys/fs/cgroup/" + groups + "*", "/sys/fs/cgroup/*/" + groups + "*"} {
		matches, _ := filepath.Glob(pattern)
		found = append(found, matches...)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		found = append(found, "directory "+dir)
	}
	return found
}

// bridgeOf returns the name of the bridge that a node is on.
func bridgeOf(t *testing.T, n *cluster.RealNode) string {
	t.Helper()
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, address := range addresses {
			if network, ok := address.(*net.IPNet); ok && network.Contains(net.ParseIP(n.IP)) {
				return i.Name
			}
		}
	}
	t.Fatalf("no interface is on the network of %s", n.IP)
	return ""
}

// stopLeavesNothing stops a cluster with one real node on which a pod runs.
func stopLeavesNothing(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	bridge, dir := bridgeOf(t, c.RealNodes()[0]), c.Dir()
	if before := traces(bridge, dir); len(before) < 5 {
		t.Errorf("there should be traces of a running cluster, found only %q", before)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if left := traces(bridge, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// exists asks the node whether the container of the pod is there, which the API may say of one that is gone.
func exists(pod *corev1.Pod) bool {
	_, id, _ := strings.Cut(mainOf(pod).ContainerID, "://")
	return len(processesIn(id)) > 0
}

// In a directory of one's own, pods run again after the cluster has been stopped.
func TestDirIsKept(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		c, err := startWithPod(t.Context(), cluster.Options{Dir: dir})
		if err != nil {
			t.Fatal(errors.Join(err, c.Stop()))
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// beParent is what this test binary does as the child of TestKilledParent: it runs a cluster and waits to be killed.
func beParent() {
	c, err := startWithPod(context.Background(), cluster.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.RealNodes()[0].IP, c.Dir())
	select {}
}

// When the program is killed, what it started dies; the bridge goes when the next cluster starts.
func TestKilledParent(t *testing.T) {
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
	ip, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	bridge := bridgeOf(t, &cluster.RealNode{IP: ip})
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, func(context.Context) string {
		for _, trace := range traces(bridge, dir) {
			if strings.HasPrefix(trace, "process") || strings.HasPrefix(trace, "directory") {
				return "left behind: " + trace
			}
		}
		return ""
	})

	c, err := startWithPod(t.Context(), cluster.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, c.Stop()))
	}
	if got := bridgeOf(t, c.RealNodes()[0]); got != bridge {
		t.Errorf("the next cluster is on %s, not on %s which is free", got, bridge)
	}
	stopLeavesNothing(t, c)
	if left := traces(bridge, dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
