// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The size of the cluster of BenchmarkTransition.
const (
	benchNodes = 250
	benchPods  = 110 // on each node
)

// BenchmarkTransition measures how long it takes from the report of an agent to the one write of the pod. There are 27,500 pods
// that are probed on 250 nodes, on an API server in memory. It measures one pod at a time, and one pod on every node at once.
func BenchmarkTransition(b *testing.B) {
	c := newCrowd(b)
	for name, atOnce := range map[string]int{"one": 1, "every-node": benchNodes} {
		b.Run(name, func(b *testing.B) {
			var all []time.Duration
			for b.Loop() {
				all = append(all, c.transitions(b, atOnce)...)
			}
			slices.Sort(all)
			for _, percent := range []int{50, 99} {
				b.ReportMetric(float64(all[(len(all)-1)*percent/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", percent))
			}
			b.ReportMetric(float64(len(all))/float64(b.N), "transitions/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// crowd is a cluster in which every pod is probed, in real time.
type crowd struct {
	*fakecluster.Server
	agents client.NodePodProbeInterface
	idle   map[string]bool // the pods whose last state is Succeeded
	round  int

	lock    sync.Mutex
	written map[string]time.Time // the last write of each pod
	changed chan struct{}
}

func benchPod(node, pod int) string { return fmt.Sprint("web-", node, "-", pod) }

// transitions has the state of a pod change on each of so many nodes, and waits for all.
func (c *crowd) transitions(b *testing.B, atOnce int) []time.Duration {
	b.Helper()
	c.round++
	c.forget()
	reported := map[string]time.Time{}
	for i := range atOnce {
		node := (c.round*atOnce + i) % benchNodes
		pod, state := benchPod(node, c.round%benchPods), v1alpha1.ProbeSucceeded
		if c.idle[pod] {
			state = v1alpha1.ProbeFailed
		}
		c.idle[pod], reported[pod] = !c.idle[pod], time.Now()
		must(b, report(b.Context(), c.agents, fmt.Sprint("n", node), pod, state))
	}
	c.await(b, atOnce)
	var took []time.Duration
	for pod, at := range reported {
		took = append(took, c.written[pod].Sub(at))
	}
	return took
}

// await waits until so many pods have been written.
func (c *crowd) await(b *testing.B, pods int) {
	b.Helper()
	for {
		c.lock.Lock()
		n := len(c.written)
		c.lock.Unlock()
		if n >= pods {
			return
		}
		select {
		case <-c.changed:
		case <-time.After(time.Minute):
			b.Fatalf("%d pods are written, want %d", n, pods)
		}
	}
}

// forget forgets which pods have been written.
func (c *crowd) forget() {
	c.lock.Lock()
	defer c.lock.Unlock()
	clear(c.written)
	c.ForgetRequests()
}

// newCrowd returns a cluster in which all pods are probed, and have failed.
func newCrowd(b *testing.B) *crowd {
	c := &crowd{Server: fakecluster.New(nil, markerResource, probesResource), idle: map[string]bool{}, written: map[string]time.Time{}, changed: make(chan struct{}, 1)}
	c.agents = fixture.Connect(b, c.Server, agentUser, client.NewForConfig).NodePodProbes()
	c.populate(b)
	c.FailAfter(func(r fakecluster.Request) error {
		if r.User == nodeUser && r.Verb == "patch" && r.Resource == "pods" {
			c.lock.Lock()
			c.written[r.Name] = time.Now()
			c.lock.Unlock()
			select {
			case c.changed <- struct{}{}:
			default:
			}
		}
		return nil
	})
	controller, err := nodepodprobe.New(nodepodprobe.Options{
		Kubernetes: kubernetes.NewForConfigOrDie(c.Config(nodeUser)), Lifecycle: fixture.Connect(b, c.Server, nodeUser, client.NewForConfig)})
	must(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- controller.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		must(b, <-done)
	})
	for n := range benchNodes {
		c.failAll(b, fmt.Sprint("n", n))
	}
	c.await(b, benchNodes*benchPods)
	return c
}

// failAll waits until a node has probes for all its pods, and reports that all have failed.
func (c *crowd) failAll(b *testing.B, node string) {
	b.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		n, err := c.agents.Get(b.Context(), node, metav1.GetOptions{})
		if err != nil || len(n.Spec.PodProbes) < benchPods {
			if time.Now().After(deadline) {
				b.Fatalf("NodePodProbe %s asks for %d pods, want %d (%v)", node, len(n.Spec.PodProbes), benchPods, err)
			}
			continue
		}
		for _, pod := range n.Spec.PodProbes {
			n.Status.PodProbeStatuses = append(n.Status.PodProbeStatuses, v1alpha1.PodProbeStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
				ProbeStates: []v1alpha1.ContainerProbeState{{Name: pod.Probes[0].Name, State: v1alpha1.ProbeFailed}}})
		}
		_, err = c.agents.UpdateStatus(b.Context(), n, metav1.UpdateOptions{})
		must(b, err)
		return
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// populate makes the nodes, the pods and the marker.
func (c *crowd) populate(b *testing.B) {
	b.Helper()
	ctx, kube := context.Background(), kubernetes.NewForConfigOrDie(c.Config(testUser))
	for n := range benchNodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", n)}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		_, err := kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		must(b, err)
		for p := range benchPods {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: benchPod(n, p), Labels: map[string]string{"app": "web"}}}
			pod.Spec = corev1.PodSpec{NodeName: node.Name, Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}
			pod, err = kube.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
			must(b, err)
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
			_, err = kube.CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			must(b, err)
		}
	}
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: "games"}}
	m.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	must(b, yaml.UnmarshalStrict([]byte(idle), &m.Spec.Probes))
	_, err := fixture.Connect(b, c.Server, testUser, client.NewForConfig).PodProbeMarkers(namespace).Create(ctx, m, metav1.CreateOptions{})
	must(b, err)
}
