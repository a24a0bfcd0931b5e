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

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
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

// footprint is what a running cluster has on this machine. It is known by more than its names: once the cluster has ended, another
// one may have its number.
type footprint struct {
	dir    string
	bridge *net.Interface
	// groups are the control groups of the nodes, by their paths.
	groups map[string]fs.FileInfo
}

// footprintOf returns the footprint of the cluster that has a node with this address, and this directory.
func footprintOf(t *testing.T, ip, dir string) footprint {
	t.Helper()
	f := footprint{dir: dir, bridge: bridgeOf(t, ip), groups: map[string]fs.FileInfo{}}
	groups := "podwright." + strings.TrimPrefix(f.bridge.Name, "podwright") + ".*"
	for _, pattern := range []string{"/sys/fs/cgroup/" + groups, "/sys/fs/cgroup/*/" + groups} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range matches {
			if f.groups[path], err = os.Stat(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// left returns what there is of the cluster now: processes in its control groups, these, mounts, the bridge, its directory.
func (f footprint) left() []string {
	var found []string
	for path, group := range f.groups {
		processes := processesBelow(path)
		if now, err := os.Stat(path); err == nil && os.SameFile(now, group) {
			found = append(append(found, path), processes...)
		}
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err == nil && strings.Contains(string(mounts), f.dir) {
		found = append(found, "mounts in "+f.dir)
	}
	if now, err := net.InterfaceByName(f.bridge.Name); err == nil && now.Index == f.bridge.Index {
		found = append(found, "link "+f.bridge.Name)
	}
	if _, err := os.Stat(f.dir); !errors.Is(err, fs.ErrNotExist) {
		found = append(found, "directory "+f.dir)
	}
	return found
}

// processesBelow tells of the processes in a control group and in those below it.
func processesBelow(group string) []string {
	var found []string
	_ = filepath.WalkDir(group, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "cgroup.procs" {
			return nil // groups go away meanwhile
		}
		text, _ := os.ReadFile(path)
		for pid := range strings.FieldsSeq(string(text)) {
			name, _ := os.ReadFile("/proc/" + pid + "/comm")
			found = append(found, "process "+strings.TrimSpace(string(name)))
		}
		return nil
	})
	return found
}

// bridgeOf returns the bridge that the node with an address is on.
func bridgeOf(t *testing.T, ip string) *net.Interface {
	t.Helper()
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		addresses, _ := i.Addrs()
		for _, address := range addresses {
			if network, ok := address.(*net.IPNet); ok && network.Contains(net.ParseIP(ip)) {
				return &i
			}
		}
	}
	t.Fatalf("no interface is on the network of %s", ip)
	return nil
}

// stopLeavesNothing stops a cluster with one real node on which a pod runs.
func stopLeavesNothing(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	f := footprintOf(t, c.RealNodes()[0].IP, c.Dir())
	if before := f.left(); len(before) < 5 {
		t.Errorf("there should be traces of a running cluster, found only %q", before)
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if left := f.left(); len(left) > 0 {
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
	testbed.Long(t)
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

// occupy gives an address out of the network of a bridge to another interface. No other cluster takes the network's number then.
func occupy(t *testing.T, bridge *net.Interface, ip string) {
	t.Helper()
	shell := func(command string) {
		if out, err := exec.Command("sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; "+command).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
	name := "pw-test-" + strings.TrimPrefix(bridge.Name, "podwright")
	shell("ip link add " + name + " type bridge")
	t.Cleanup(func() { shell("ip link delete " + name) })
	shell("ip address add " + ip + "/32 dev " + name)
}

// When the program is killed, what it started dies; the bridge goes when the next cluster starts, whatever number that one has.
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
	killed := footprintOf(t, ip, dir)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	eventually(t, func(context.Context) string {
		for _, trace := range killed.left() {
			if strings.HasPrefix(trace, "process") || strings.HasPrefix(trace, "directory") {
				return "left behind: " + trace
			}
		}
		return ""
	})

	occupy(t, killed.bridge, ip)
	c, err := startWithPod(t.Context(), cluster.Options{})
	if err != nil {
		t.Fatal(errors.Join(err, c.Stop()))
	}
	t.Cleanup(func() { _ = c.Stop() })
	// Another cluster that starts at the same time may be removing it.
	eventually(t, func(context.Context) string {
		if left := killed.left(); len(left) > 0 {
			return fmt.Sprintf("left behind: %q", left)
		}
		return ""
	})
	stopLeavesNothing(t, c)
}
