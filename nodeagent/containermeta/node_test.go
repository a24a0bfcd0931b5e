// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/nodeagent"
)

// node is a node with a kubelet, and the agent.
type node struct {
	*agents.Node
	kubelet *fakecri.Kubelet
	options Options
	agent   Controller
}

func newNode(t *testing.T, server *fakecluster.Server) *node {
	t.Helper()
	n := &node{Node: agents.NewNode(t, "node-1", server, nil)}
	n.kubelet = &fakecri.Kubelet{Client: n.Kube, Runtime: n.Runtime}
	return n
}

// start starts the agent, and waits until it has settled.
func (n *node) start() {
	n.Helper()
	o := n.options
	o.Kubernetes, o.Runtime, o.Node, o.Recorders = n.Kubernetes(n.User()), agents.Connect(n.T, n.Runtime), n.Name, n.Events.Of
	o.Pods = nodeagent.NewPodInformer(o.Kubernetes, o.Node)
	var err error
	n.agent, err = New(o)
	n.Must(err)
	n.Run(o.Pods, nodeagent.Trim, n.agent.Run)
	n.Sleep(10 * time.Second)
}

// create creates a pod and has the kubelet start it.
func (n *node) create(pod *corev1.Pod) {
	n.Helper()
	_, err := n.Kube.CoreV1().Pods(pod.Namespace).Create(n.Context(), pod, metav1.CreateOptions{})
	n.Must(err)
	n.sync(pod.Name)
}

// sync has the kubelet make a step for a pod.
func (n *node) sync(name string) {
	n.Helper()
	n.Must(n.kubelet.Sync(n.Context(), "default", name))
	synctest.Wait()
}

func (n *node) pod(name string) *corev1.Pod {
	n.Helper()
	pod, err := n.Kube.CoreV1().Pods("default").Get(n.Context(), name, metav1.GetOptions{})
	n.Must(err)
	return pod
}

// update begins an in-place update, as a controller of workloads does: the pod
// leaves service, and then its annotation changes.
func (n *node) update(name, version string) {
	n.Helper()
	n.patch(name, `{"status":{"conditions":[{"type":"InPlaceUpdateReady","status":"False"}]}}`, "status")
	n.patch(name, fmt.Sprintf(`{"metadata":{"annotations":{"version":%q,%q:%q}}}`, version,
		inplacev1alpha1.StateAnnotation, `{"revision":"r","updateTimestamp":null,"lastContainerStatuses":null,"updateEnvFromMetadata":true}`))
}

func (n *node) patch(name, data string, subresource ...string) {
	n.Helper()
	_, err := n.Kube.CoreV1().Pods("default").Patch(n.Context(), name, types.StrategicMergePatchType, []byte(data), metav1.PatchOptions{}, subresource...)
	n.Must(err)
	synctest.Wait()
}

// show shows a pod, and its annotation as "name id restarts plain env".
func (n *node) show(pod *corev1.Pod) (lines []string) {
	n.Helper()
	complete, _, err := inplace.Complete(pod) // as controllers of workloads say it
	n.Must(err)
	lines = []string{pod.Name}
	if !complete {
		lines[0] += ", in an update"
	}
	if meta := reported(pod); meta != nil {
		for _, c := range meta.Containers {
			lines = append(lines, fmt.Sprintf("    %s %s %d %x %d", c.Name, c.ContainerID, c.RestartCount, c.Hashes.PlainHash, c.Hashes.ExtractedEnvFromMetadataHash))
		}
	}
	return lines
}
