// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/readiness"
	manager "github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// The users that the two halves are for the API server.
const (
	agentUser   = "agent"
	managerUser = "manager"
)

// node is a cluster with one node in memory, in virtual time. It has an API server, a
// manager with the real half of the control plane, a container runtime, a kubelet, and
// the agent.
type node struct {
	*fixture.Bubble
	kube        kubernetes.Interface // the test's
	requests    client.ContainerRecreateRequestInterface
	runtime     *fakecri.Runtime
	workers     int           // of the agent
	startup     time.Duration // from the start of a container to its readiness
	skew        time.Duration // of the clock of the node, which is ahead by it
	events      *fixture.Recorder
	told        int // about how many pods events were shown
	uncounted   bool
	agent       Controller
	stopAgent   func()
	stopManager func()
}

// play plays a story on a node whose agent does not run yet.
func play(t *testing.T, story func(*node)) {
	t.Helper()
	playSkewed(t, 0, story)
}

// playSkewed plays a story on a node whose clock is ahead of that of the API
// server and of the manager.
func playSkewed(t *testing.T, skew time.Duration, story func(*node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		requests := fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("ContainerRecreateRequest"), "containerrecreaterequests")
		n := &node{Bubble: &fixture.Bubble{T: t, Server: fakecluster.New(nil, requests)}, runtime: fakecri.New(skewed{by: skew}), events: &fixture.Recorder{}, skew: skew, stopAgent: func() {}}
		n.kube, n.requests = n.Kubernetes("test"), n.lifecycle("test").ContainerRecreateRequests("default")
		n.stopManager = n.startManager()
		story(n)
		n.Stop()
	})
}

// skewed is a clock that is ahead of the real one.
type skewed struct {
	clock.RealClock
	by time.Duration
}

func (c skewed) Now() time.Time                  { return time.Now().Add(c.by) }
func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (n *node) lifecycle(user string) client.Interface {
	n.Helper()
	c, err := client.NewForConfig(n.Server.Config(user))
	n.Must(err)
	return c
}

// startManager starts the half of the control plane.
func (n *node) startManager() (stop func()) {
	n.Helper()
	o := manager.Options{Kubernetes: n.Kubernetes(managerUser), Lifecycle: n.lifecycle(managerUser)}
	o.Pods = caches.NewInformers(o.Kubernetes, "").Pods()
	o.Requests = client.NewContainerRecreateRequestInformer(o.Lifecycle, "", 0, cache.Indexers{})
	controller, err := manager.New(o)
	n.Must(err)
	return n.Go(controller.Run, fixture.Informing(o.Pods), fixture.Informing(o.Requests))
}

// start starts the agent.
func (n *node) start() {
	n.Helper()
	runtime, err := nodeagent.NewRuntime(n.Context(), n.runtime.Conn(), "unix:///run/test.sock")
	n.Must(err)
	o := Options{Lifecycle: n.lifecycle(agentUser), Runtime: runtime, Node: "node-1", ControllerOptions: podwright.ControllerOptions{Workers: n.workers, Recorders: n.events.Of, Clock: skewed{by: n.skew}}}
	o.Requests = NewRequestInformer(o.Lifecycle, o.Node)
	n.Guarded(o.Requests, caches.Trim)
	n.agent, err = New(o)
	n.Must(err)
	n.stopAgent = n.Go(n.agent.Run, fixture.Informing(o.Requests))
}

// pod creates a pod with the containers main and side, changed by words, and has
// the kubelet run it until it is ready.
func (n *node) pod(name string, changes ...string) {
	n.Helper()
	pod := patches.Changed(words, &corev1.Pod{}, append([]string{"two"}, changes...)...)
	pod.Name = name
	_, err := n.kube.CoreV1().Pods("default").Create(n.Context(), pod, metav1.CreateOptions{})
	n.Must(err)
	n.work(n.startup + 3*time.Second)
}

// work has the kubelet work for a time: it starts containers that do not run,
// and reports all.
func (n *node) work(d time.Duration) {
	n.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); n.Sleep(500 * time.Millisecond) {
		n.kubelet()
	}
}

func (n *node) kubelet() {
	n.Helper()
	pods, err := n.Server.Pods("default")
	n.Must(err)
	for i := range pods {
		pod := &pods[i]
		before := pod.Status.DeepCopy()
		n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(pod))
		n.report(pod)
		if equality.Semantic.DeepEqual(before, &pod.Status) {
			continue
		}
		if _, err := n.kube.CoreV1().Pods("default").UpdateStatus(n.Context(), pod, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			n.Must(err)
		}
	}
	synctest.Wait()
}

// report puts into a pod's status since when its containers run, and whether they
// are ready.
func (n *node) report(pod *corev1.Pod) {
	started := map[string]time.Time{}
	for _, c := range n.runtime.Containers() {
		started[nodeagent.ContainerID(fakecri.Name, c.Status.Id)] = time.Unix(0, c.Status.StartedAt).Truncate(time.Second)
	}
	all := true
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i]
		s.State.Running.StartedAt = metav1.NewTime(started[s.ContainerID])
		s.Ready = time.Since(started[s.ContainerID].Add(-n.skew)) >= n.startup
		all = all && s.Ready
	}
	n.condition(pod, corev1.ContainersReady, all)
	if readiness.Condition(pod, v1alpha1.KruisePodReady) == nil { // the pod-readiness controller
		n.condition(pod, v1alpha1.KruisePodReady, true)
	}
	for _, gate := range pod.Spec.ReadinessGates {
		all = all && readiness.Condition(pod, gate.ConditionType).Status == corev1.ConditionTrue
	}
	n.condition(pod, corev1.PodReady, all)
}

func (n *node) condition(pod *corev1.Pod, t corev1.PodConditionType, is bool) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	if c := readiness.Condition(pod, t); c == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: t, Status: status})
	} else if c.Status != status {
		*c = corev1.PodCondition{Type: t, Status: status}
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
	_, err := n.requests.Create(n.Context(), r, metav1.CreateOptions{})
	n.Must(err)
	synctest.Wait()
}

// forge creates a request as a user does if no webhook is called: every field
// and label is the user's.
func (n *node) forge(name, pod string, changes ...string) {
	n.Helper()
	r := newRequest(name, append([]string{"forged", "of=" + pod}, changes...)...)
	_, err := n.lifecycle("test").ContainerRecreateRequests(r.Namespace).Create(n.Context(), r, metav1.CreateOptions{})
	n.Must(err)
	synctest.Wait()
}

// alone runs a pod that the API server does not have, "namespace/name".
func (n *node) alone(name string, annotations map[string]string) {
	n.Helper()
	pod := patches.Changed(words, &corev1.Pod{}, "alone="+strings.Replace(name, "/", ":", 1))
	pod.Annotations = annotations
	n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(pod))
}

func (n *node) get(name string) *v1alpha1.ContainerRecreateRequest {
	n.Helper()
	r, err := n.requests.Get(n.Context(), name, metav1.GetOptions{})
	n.Must(err)
	return r
}

// stops lists the stops and commands so far, in order, and forgets them.
func (n *node) stops() (out []string) {
	for _, call := range n.runtime.Calls() {
		if strings.HasPrefix(call, "StopContainer ") || strings.HasPrefix(call, "ExecSync ") {
			out = append(out, call)
		}
	}
	n.runtime.ForgetCalls()
	return out
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
	pod, err := n.kube.CoreV1().Pods("default").Get(n.Context(), name, metav1.GetOptions{})
	n.Must(err)
	return pod
}
