// SPDX-License-Identifier: Apache-2.0

// Command memory measures the memory of an agent that is idle, on a node with so many pods of three containers each:
//
//	go build -tags=grpcnotrace -o agent ./nodeagent
//	go run ./nodeagent/memory -pods 110 -runs 5 ./agent
//
// It starts a control plane, a stand-in for a container runtime and the agent, again and again. It prints what the kernel
// counts after a while, and the median.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/lifecycle"
)

const node = "node-0.example.com"

func main() {
	pods := flag.Int("pods", 110, "pods of the node")
	runs := flag.Int("runs", 5, "times that the agent is started")
	after := flag.Duration("after", 30*time.Second, "time after the start at which its memory is read")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	if err := measure(context.Background(), flag.Arg(0), *pods, *runs, *after); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, agent string, pods, runs int, after time.Duration) (err error) {
	if agent == "" {
		return errors.New("want the path of an agent")
	}
	control, err := cluster.Start(ctx, cluster.Options{Nodes: -1, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, control.Stop()) }()
	runtime := fakecri.New(nil)
	account, err := prepare(ctx, control, runtime, pods)
	if err != nil {
		return err
	}
	socket := filepath.Join(control.Dir(), "runtime.sock")
	stop, err := runtime.Serve(socket)
	if err != nil {
		return err
	}
	defer stop()
	var all []float64
	for range runs {
		m, err := run(agent, after, "--kubeconfig="+account.Kubeconfig, "--node-name="+node, "--cri-endpoint="+socket, "--pods=apiserver", "--health-addr=0")
		if err != nil {
			return err
		}
		fmt.Printf("%.1f MB, %.1f of it the process's own; %.1f at most\n", m["VmRSS"], m["RssAnon"], m["VmHWM"])
		all = append(all, m["VmRSS"])
	}
	slices.Sort(all)
	fmt.Printf("median with %d pods: %.1f MB\n", pods, all[len(all)/2])
	return nil
}

var counted = regexp.MustCompile(`(?m)^(VmRSS|VmHWM|RssAnon):\s+(\d+) kB$`)

// run runs an agent, and returns what the kernel counts of its memory, in megabytes.
func run(agent string, after time.Duration, arguments ...string) (map[string]float64, error) {
	command := exec.Command(agent, arguments...)
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case err := <-ended:
		return nil, fmt.Errorf("the agent has ended: %w", err)
	case <-time.After(after):
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid))
	if err = errors.Join(err, command.Process.Kill()); err != nil {
		return nil, err
	}
	<-ended
	found := map[string]float64{}
	for _, line := range counted.FindAllStringSubmatch(string(status), -1) {
		kilobytes, _ := strconv.ParseFloat(line[2], 64)
		found[line[1]] = kilobytes * 1024 / 1e6
	}
	return found, nil
}

// prepare makes the pods of the node, in the API and in the runtime, and returns the account of the agent.
func prepare(ctx context.Context, control *cluster.Cluster, runtime *fakecri.Runtime, pods int) (*cluster.Account, error) {
	for _, component := range []string{cluster.ControllerManager, cluster.Scheduler, cluster.Kwok} { // they would remove pods of a node that does not exist
		if err := control.Kill(component); err != nil {
			return nil, err
		}
	}
	config := control.Config()
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := crds.Install(ctx, objects, append(distribution.CRDs(), lifecycle.CRDs()...)); err != nil {
		return nil, err
	}
	kubelet := &fakecri.Kubelet{Client: core, Runtime: runtime}
	for i := range pods {
		pod, err := core.CoreV1().Pods("default").Create(ctx, podOf(i), metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		if err := kubelet.Sync(ctx, pod.Namespace, pod.Name); err != nil {
			return nil, err
		}
	}
	manifest, err := app.Manifest(app.NewConfig(func(string) string { return "" }))
	if err != nil {
		return nil, err
	}
	return control.Account(ctx, manifest)
}

func podOf(i int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%d", i), Labels: map[string]string{"app": "web"}}, Spec: corev1.PodSpec{NodeName: node}}
	for _, name := range []string{"main", "proxy", "logs"} {
		c := corev1.Container{Name: name, Image: "registry.example.com/shop/" + name + ":1.2.3"}
		for n := range 15 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", n), Value: "a value of the length of values"})
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	return pod
}
