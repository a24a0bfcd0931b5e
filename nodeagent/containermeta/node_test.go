// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// agentUser is the user that the agent is for the API server.
const agentUser = "agent"

// node is a node in memory, in virtual time: an API server, a container
// runtime, a kubelet, and the agent.
type node struct {
	*fixture.Bubble
	kube    kubernetes.Interface // the test's
	runtime *fakecri.Runtime
	kubelet *fakecri.Kubelet
	events  *fixture.Recorder
	told    int // about how many pods events were shown
	// uncounted has scripts count no requests and calls.
	uncounted bool
	options   Options
	agent     Controller
}

// play plays a story on a node whose agent does not run yet.
func play(t *testing.T, story func(*node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		n := &node{Bubble: &fixture.Bubble{T: t, Server: fakecluster.New(nil)}, runtime: fakecri.New(nil), events: &fixture.Recorder{}}
		n.kube = n.Kubernetes("test")
		n.kubelet = &fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}
		story(n)
		n.Stop()
	})
}

// start starts the agent, and waits until it has settled.
func (n *node) start() {
	n.Helper()
	runtime, err := nodeagent.NewRuntime(n.Context(), n.runtime.Conn(), "unix:///run/test.sock")
	n.Must(err)
	o := n.options
	o.Kubernetes, o.Runtime, o.Node, o.Recorders = n.Kubernetes(agentUser), runtime, "node-1", n.events.Of
	o.Pods = nodeagent.NewPodInformer(o.Kubernetes, o.Node)
	n.Guarded(o.Pods, nodeagent.Trim)
	n.agent, err = New(o)
	n.Must(err)
	n.runtime.ForgetCalls()
	n.Go(fixture.Informing(o.Pods), n.agent.Run)
	n.sleep("10s")
}

func (n *node) sleep(text string) {
	n.Helper()
	d, err := time.ParseDuration(text)
	n.Must(err)
	time.Sleep(d)
	synctest.Wait()
}

// create creates a pod and has the kubelet start it.
func (n *node) create(pod *corev1.Pod) {
	n.Helper()
	_, err := n.kube.CoreV1().Pods(pod.Namespace).Create(n.Context(), pod, metav1.CreateOptions{})
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
	pod, err := n.kube.CoreV1().Pods("default").Get(n.Context(), name, metav1.GetOptions{})
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
	_, err := n.kube.CoreV1().Pods("default").Patch(n.Context(), name, types.StrategicMergePatchType, []byte(data), metav1.PatchOptions{}, subresource...)
	n.Must(err)
	synctest.Wait()
}

// complete tells whether a controller of workloads takes the update of a pod
// for complete.
func (n *node) complete(name string) bool {
	n.Helper()
	complete, _, err := inplace.Complete(n.pod(name))
	n.Must(err)
	return complete
}

// report returns the annotation of a pod, as "name id restarts plain env".
func (n *node) report(name string) (out []string) {
	n.Helper()
	meta := reported(n.pod(name))
	if meta == nil {
		return nil
	}
	for _, c := range meta.Containers {
		out = append(out, fmt.Sprintf("%s %s %d %x %d", c.Name, c.ContainerID, c.RestartCount, c.Hashes.PlainHash, c.Hashes.ExtractedEnvFromMetadataHash))
	}
	return out
}

// sent lists the requests of the agent but lists and watches, as "n verb
// resource", and the calls of the runtime, and forgets both.
func (n *node) sent() []string {
	count := n.Server.Count(agentUser)
	maps.DeleteFunc(count, func(request string, _ int) bool {
		return strings.HasPrefix(request, "list ") || strings.HasPrefix(request, "watch ")
	})
	n.Server.ForgetRequests()
	for _, call := range n.runtime.Calls() {
		method, _, _ := strings.Cut(call, " ")
		count[method]++
	}
	n.runtime.ForgetCalls()
	out := []string{}
	for _, what := range slices.Sorted(maps.Keys(count)) {
		out = append(out, fmt.Sprint(count[what], " ", what))
	}
	return out
}

// A stale cache costs no second write.
func TestStoryStaleCache(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.create(newPod("web-0"))
		n.sleep("500ms")
		n.Server.Hold("pods")
		n.sleep("2s")
		if after, err := n.agent.Reconcile(n.Context(), types.NamespacedName{Namespace: "default", Name: "web-0"}); after == 0 || err != nil {
			n.Errorf("a reconcile on a stale cache asks to be called again after %v, error %v", after, err)
		}
		n.sleep("10s")
		n.Server.Release("pods")
		n.sleep("10s")
		n.Want("one write", []string{"1 ContainerStatus", "1 ListContainers", "1 patch pods/status"}, n.sent())
		// CT-12: what is remembered of a pod is kept as long as there is one, also while all is reported.
		if s, err := n.agent.Snapshot(n.Context(), types.NamespacedName{Namespace: "default", Name: "web-0"}); s == nil || err != nil {
			n.Errorf("a pod whose report stands is taken for one that is gone: error %v", err)
		}
	})
}
