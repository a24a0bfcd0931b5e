// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The names of the components of a real node, as its Kill, Restart, Pause, Resume and Done take them.
const (
	Kubelet    = "kubelet"
	Containerd = "containerd"
)

// RealNode is a node of the cluster that runs real containers: a kubelet and a containerd in namespaces of their own. It looks
// like another machine, with its own processes, mounts, network and control groups. Its Kill, Restart, Pause, Resume
// and Done act on the components Kubelet and Containerd; containers outlive both.
type RealNode struct {
	*components
	// Name is the node's name in the API.
	Name string
	// Dir holds the node's data, configuration and logs.
	Dir string
	// CRISocket is the path of the socket on which containerd serves the container runtime interface. It can be reached from
	// everywhere on this machine. Process IDs that come from there count within the node.
	CRISocket string
	// PodsSocket is the path of the socket on which the kubelet serves its pods.
	PodsSocket string
	// IP is the node's address, and PodCIDR the subnet of its pods. Both can be reached from this machine.
	IP, PodCIDR string

	cluster   *Cluster
	number    int
	machine   *process
	listeners []net.Listener
}

// start starts the node, and stops it if that fails.
func (n *RealNode) start(ctx context.Context) error {
	if err := n.startAll(ctx); err != nil {
		return errors.Join(fmt.Errorf("real node %s: %w", n.Name, err), n.Stop())
	}
	return nil
}

// startAll starts the machine of the node, then what runs on it.
func (n *RealNode) startAll(ctx context.Context) error {
	if err := n.writeConfiguration(); err != nil {
		return err
	}
	if err := n.startMachine(ctx); err != nil {
		return err
	}
	if err := n.cluster.real.network.connect(ctx, n); err != nil {
		return err
	}
	// On the node's own loopback interface are what it needs from ours.
	for _, address := range []string{fmt.Sprintf("127.0.0.1:%d", n.cluster.ports[APIServer]), n.cluster.real.images.Address()} {
		if err := n.forward(address); err != nil {
			return err
		}
	}
	for _, name := range n.names {
		if err := n.components.start(ctx, name); err != nil {
			return err
		}
	}
	client, err := kubernetes.NewForConfig(n.cluster.Config())
	if err != nil {
		return err
	}
	return poll(ctx, "node "+n.Name+" to be ready", func() (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		return takesPods(node), fmt.Errorf("its conditions are %v", node.Status.Conditions)
	})
}

// startMachine starts the process whose namespaces are the node, and a launcher inside.
func (n *RealNode) startMachine(ctx context.Context) error {
	ready := filepath.Join(n.Dir, readyFile("machine"))
	_ = os.Remove(ready)
	n.machine = &process{
		name:   "machine",
		binary: filepath.Join(n.cluster.real.binaries, "machine"),
		arguments: []string{
			"-cgroup=" + n.cluster.real.network.cgroup(n.Name), "-ready-file=" + ready,
			"-keep=" + n.cluster.dir, "-keep=" + n.cluster.real.binaries, "-keep=" + filepath.Dir(n.cluster.binary),
		},
		dir:        n.Dir,
		logFile:    filepath.Join(n.Dir, "machine.log"),
		namespaces: machineNamespaces,
	}
	if err := n.cluster.launch(n.machine); err != nil {
		return fmt.Errorf("start the node's first process: %w", err)
	}
	err := poll(ctx, "the node's namespaces", func() (bool, error) {
		if !n.machine.alive() {
			return true, nil
		}
		_, err := os.Stat(ready)
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if !n.machine.alive() {
		return fmt.Errorf("the node's first process did not come up: %w:\n%s", n.machine.outcome(), n.machine.logTail())
	}
	n.launcher, err = newLauncher(func() error { return enter(n.machine.pid()) })
	return err
}

// serves looks once whether a component of the node serves.
func (n *RealNode) serves(ctx context.Context, name string) error {
	if name == Containerd {
		connection, err := net.DialTimeout("unix", n.CRISocket, time.Second)
		if err != nil {
			return err
		}
		return connection.Close()
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(n.IP, kubeletHealthPort)+"/healthz", nil)
	if err != nil {
		return err
	}
	return wantOK(http.DefaultClient, request)
}

// Run runs a command of this machine inside the node, where process IDs and networks are the node's, and waits for its end.
func (n *RealNode) Run(command *exec.Cmd) error {
	if err := n.Start(command); err != nil {
		return err
	}
	return command.Wait()
}

// Start starts a command of this machine inside the node. The caller waits for its end; it ends with the node.
func (n *RealNode) Start(command *exec.Cmd) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped {
		return errStopped
	}
	return n.launcher.do(command.Start)
}

// Stop ends the node: the kubelet, containerd, then all containers, with everything that they had. Its Node object stays.
// Calling it again does nothing.
func (n *RealNode) Stop() error {
	n.mu.Lock()
	stopped := n.stopped
	n.stopped = true
	n.mu.Unlock()
	if stopped {
		return nil
	}
	n.halt(Kubelet, stopGrace)
	n.halt(Containerd, stopGrace)
	for _, listener := range n.listeners {
		_ = listener.Close()
	}
	if n.launcher != nil {
		n.launcher.close()
	}
	if n.machine != nil && n.machine.exited != nil {
		// The kernel reports it dead when nothing of the node lives any more.
		_ = n.machine.signal(syscall.SIGKILL)
		<-n.machine.exited
	}
	return removeCgroups(n.cluster.real.network.cgroup(n.Name))
}
