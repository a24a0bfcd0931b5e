// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/install"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The agent works on one node as the installed DaemonSet runs it. Its container has a read-only root and no
// capabilities, stays within its limits, and has the token that the kubelet requests for the pod.
func TestDaemonSet(t *testing.T) {
	p := newPuller(t)
	usual := bed.Agents[0]
	usual.Kill()
	t.Cleanup(func() { startAgain(t, usual) })
	daemons := bed.Core.AppsV1().DaemonSets("kruise-system")
	created, err := daemons.Create(t.Context(), shippedDaemonSet(p), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := func() []corev1.Pod {
		pods, err := bed.Core.CoreV1().Pods(created.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(created.Spec.Selector)})
		if err != nil {
			t.Fatal(err)
		}
		return pods.Items
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, pod := range pods() {
				t.Logf("%+v\n%s", pod.Status, logs(&pod))
			}
		}
		if err := daemons.Delete(context.Background(), created.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	p.AwaitAsking("the DaemonSet has a pod that is ready", func() string {
		d, err := daemons.Get(t.Context(), created.Name, metav1.GetOptions{})
		if err != nil || d.Status.NumberReady != 1 || d.Status.DesiredNumberScheduled != 1 {
			return fmt.Sprintf("%v, %+v", err, d.Status)
		}
		return ""
	})
	image, _ := p.image("v1", registry.Image{})
	p.pull("job", image, func(spec *v1alpha1.ImagePullJobSpec) { spec.PullSecrets = []string{"ours"} })
	p.completed("job")
	if !p.onNode(0, image) {
		t.Error("the image is not there")
	}
	web := p.pod("web", []string{"main=" + endsAtOnce})
	web = p.completedRequest(web)
	p.restarted(web, "main", 1, 0)
	restart(t, usual.Node, cluster.Containerd, func() {}) // which listens on another socket then, in the same folder
	web = p.completedRequest(web)
	p.restarted(web, "main", 2, 0)
	for _, pod := range pods() {
		if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts != 0 {
			t.Errorf("the agent was restarted %d times: %+v", restarts, pod.Status.ContainerStatuses[0])
		}
	}
}

// completedRequest has the container main of a pod recreated, and returns the pod.
func (p *puller) completedRequest(pod *corev1.Pod) *corev1.Pod {
	p.Helper()
	return p.scene.completed(p.recreate(pod, lifecyclev1alpha1.ContainerRecreateRequestStrategy{}, "main"), pod)
}

// shippedDaemonSet is the DaemonSet that is installed, with an image of the agent, for the first node. The test changes only
// what is different on such nodes: where the sockets are, and how the agent reaches the API server without a Service.
func shippedDaemonSet(p *puller) *appsv1.DaemonSet {
	p.Helper()
	d, err := install.NewOptions().DaemonSet()
	if err != nil {
		p.Fatal(err)
	}
	host, err := url.Parse(bed.Control.Config().Host)
	if err != nil {
		p.Fatal(err)
	}
	node, pod := bed.Agents[0].Node, &d.Spec.Template.Spec
	pod.NodeSelector = map[string]string{corev1.LabelHostname: node.Name}
	agent := &pod.Containers[0]
	agent.Image = agentImage(p)
	agent.Env = append(agent.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: host.Hostname()}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: host.Port()})
	for i := range pod.Volumes {
		switch v := &pod.Volumes[i]; v.Name {
		case "runtime":
			v.HostPath.Path = filepath.Dir(node.CRISocket)
		case "pods":
			v.HostPath.Path = filepath.Dir(node.PodsSocket)
		}
	}
	return d
}

// agentImage serves an image of the program and nothing else, and returns its name.
func agentImage(p *puller) string {
	p.Helper()
	binary := filepath.Join(p.TempDir(), "nodeagent")
	build := exec.Command("go", "build", "-tags=grpcnotrace", "-o", binary, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		p.Fatalf("%v:\n%s", err, out)
	}
	name, _ := p.image("agent", registry.Image{Programs: []string{}, Executables: map[string]string{"/nodeagent": binary}, Entrypoint: []string{"/nodeagent"}})
	return name
}

// logs returns what the containers of a pod have written.
func logs(pod *corev1.Pod) string {
	out, err := bed.Core.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(context.Background())
	return fmt.Sprint(string(out), err)
}
