// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/client"
	manager "github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// node is a node with the real half of the control plane, a kubelet, and the agent.
type node struct {
	*agents.Node
	requests    client.ContainerRecreateRequestInterface
	kubelet     *fakecri.NodeKubelet
	workers     int // of the agent
	agent       Controller
	stopManager func()
}

// newNode returns a node whose manager runs.
func newNode(t *testing.T) *node { return newSkewedNode(t, 0) }

// newSkewedNode returns a node whose clock is ahead of that of the API server and of the manager.
func newSkewedNode(t *testing.T, skew time.Duration) *node {
	t.Helper()
	requests := fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests")
	n := &node{Node: agents.NewNode(t, "node-1", fakecluster.New(nil, requests), fakecri.Skewed{By: skew})}
	n.kubelet = &fakecri.NodeKubelet{Kubelet: fakecri.Kubelet{Client: n.Kube, Runtime: n.Runtime}, Skew: skew}
	n.requests = n.lifecycle("test").ContainerRecreateRequests("default")
	n.stopManager = n.startManager()
	return n
}

func (n *node) lifecycle(user string) client.Interface {
	n.Helper()
	return fixture.Connect(n.T, n.Server, user, client.NewForConfig)
}

// startManager starts the half of the control plane.
func (n *node) startManager() (stop func()) {
	n.Helper()
	o := manager.Options{Kubernetes: n.Kubernetes("manager"), Lifecycle: n.lifecycle("manager")}
	o.Pods = caches.NewInformers(o.Kubernetes, "").Pods()
	o.Requests = client.NewContainerRecreateRequestInformer(o.Lifecycle, "", 0, cache.Indexers{})
	controller, err := manager.New(o)
	n.Must(err)
	return n.Go(controller.Run, fixture.Informing(o.Pods), fixture.Informing(o.Requests))
}

// start starts the agent.
func (n *node) start() {
	n.Helper()
	o := Options{Lifecycle: n.lifecycle(n.User()), Runtime: agents.Connect(n.T, n.Runtime), Node: n.Name,
		ControllerOptions: podwright.ControllerOptions{Workers: n.workers, Recorders: n.Events.Of, Clock: fakecri.Skewed{By: n.kubelet.Skew}}}
	o.Requests = NewRequestInformer(o.Lifecycle, o.Node)
	var err error
	n.agent, err = New(o)
	n.Must(err)
	n.Run(o.Requests, caches.Trim, n.agent.Run)
}

// pod creates a pod with the containers main and side, changed by words, and has
// the kubelet run it until it is ready.
func (n *node) pod(name string, changes ...string) {
	n.Helper()
	pod := patches.Changed(words, &corev1.Pod{}, append([]string{"two"}, changes...)...)
	pod.Name = name
	_, err := n.Kube.CoreV1().Pods("default").Create(n.Context(), pod, metav1.CreateOptions{})
	n.Must(err)
	n.work(n.kubelet.Startup + 3*time.Second)
}

// work has the kubelet work for a time: it starts containers that do not run,
// and reports all.
func (n *node) work(d time.Duration) {
	n.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); n.Sleep(500 * time.Millisecond) {
		n.Must(n.kubelet.Step(n.Context(), "default"))
		synctest.Wait()
	}
}

// create creates a request as a user does, and the webhook fills it in.
func (n *node) create(name, pod string, changes ...string) {
	n.Helper()
	r := patches.Changed(words, &v1alpha1.ContainerRecreateRequest{}, append([]string{"new", "of=" + pod}, changes...)...)
	r.Name = name
	of := n.getPod(pod)
	if errs := append(manager.ValidateCreate(r), manager.ValidatePod(r, of)...); len(errs) > 0 {
		n.Fatal(errs.ToAggregate())
	}
	manager.Default(r, of)
	n.send(r)
}

// forge creates a request as a user does if no webhook is called: every field
// and label is the user's. UID stands for that of the pod.
func (n *node) forge(name, pod string, changes ...string) {
	n.Helper()
	for i := range changes {
		if changes[i] == "pod-uid=UID" {
			changes[i] = "pod-uid=" + string(n.getPod(pod).UID)
		}
	}
	n.send(newRequest(name, append([]string{"forged", "of=" + pod}, changes...)...))
}

// send sends a request to the API server.
func (n *node) send(r *v1alpha1.ContainerRecreateRequest) {
	n.Helper()
	_, err := n.lifecycle("test").ContainerRecreateRequests(r.Namespace).Create(n.Context(), r, metav1.CreateOptions{})
	n.Must(err)
	synctest.Wait()
}

// alone runs a pod that the API server does not have, "namespace/name".
func (n *node) alone(name string, annotations map[string]string) {
	n.Helper()
	pod := patches.Changed(words, &corev1.Pod{}, "alone="+strings.Replace(name, "/", ":", 1))
	pod.Annotations = annotations
	n.Must(n.kubelet.Run(pod))
}

func (n *node) get(name string) *v1alpha1.ContainerRecreateRequest {
	n.Helper()
	r, err := n.requests.Get(n.Context(), name, metav1.GetOptions{})
	n.Must(err)
	return r
}

// restarts tells how often the containers of a pod have been restarted.
func (n *node) restarts(pod string) (out []string) {
	n.Helper()
	for _, s := range n.getPod(pod).Status.ContainerStatuses {
		out = append(out, fmt.Sprintf("%s %d", s.Name, s.RestartCount))
	}
	return out
}

func (n *node) getPod(name string) *corev1.Pod {
	n.Helper()
	pod, err := n.Kube.CoreV1().Pods("default").Get(n.Context(), name, metav1.GetOptions{})
	n.Must(err)
	return pod
}
