// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The users of the server.
const (
	markerUser = "podprobemarker-controller"
	nodeUser   = "nodepodprobe-controller"
	agentUser  = "agent"
	testUser   = "test"
)

const namespace = "default"

// What the API server knows.
var (
	markerResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker"), "podprobemarkers")
	probesResource = fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("NodePodProbe"), Name: "nodepodprobes", ClusterScoped: true, Status: true, Generation: true}
)

// The packages of both controllers.
var (
	ofMarkers = fixture.Package[podprobemarker.Options, podprobemarker.Snapshot, podprobemarker.Plan]{New: podprobemarker.New,
		Acts: func(p *podprobemarker.Plan) bool { return p.Finalizers != nil || p.Status != nil }}
	ofNodes = fixture.Package[nodepodprobe.Options, nodepodprobe.Snapshot, nodepodprobe.Plan]{New: nodepodprobe.New,
		Acts: func(p *nodepodprobe.Plan) bool {
			return p.Create != nil || p.Delete || p.Spec != nil || len(p.Patches) > 0
		}}
)

// cluster is an API server in memory with both controllers, in virtual time.
type cluster struct {
	*fixture.Bubble
	kube    kubernetes.Interface // the test's
	markers client.PodProbeMarkerInterface
	probes  client.NodePodProbeInterface

	markerReconciles, nodeReconciles fixture.Reconciles
	events                           fixture.Recorder
	node                             nodepodprobe.Reconciler
	marker                           podprobemarker.Reconciler
	serverless                       bool
	reconciles                       [2]int // of nodes and of markers, when a script began to count
	told                             []string
}

func newCluster(t *testing.T, server *fakecluster.Server) *cluster {
	c := &cluster{Bubble: &fixture.Bubble{T: t, Server: server}, kube: kubernetes.NewForConfigOrDie(server.Config(testUser))}
	c.markers, c.probes = c.lifecycle(testUser).PodProbeMarkers(namespace), c.lifecycle(testUser).NodePodProbes()
	return c
}

// play plays a story with both controllers on shared caches. In the end they are settled.
func play(t *testing.T, story func(*cluster), prepare ...func(*cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		c := newCluster(t, fakecluster.New(nil, markerResource, probesResource))
		for _, step := range prepare {
			step(c)
		}
		c.start()
		defer c.Stop()
		story(c)
		c.expectSettled()
	})
}

func (c *cluster) lifecycle(user string) client.Interface {
	c.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// start starts both controllers.
func (c *cluster) start() {
	c.Helper()
	l, core := c.lifecycle("caches"), caches.NewInformers(kubernetes.NewForConfigOrDie(c.Config("caches")), "")
	markers := c.Guarded(client.NewPodProbeMarkerInformer(l, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}), nil)
	probes, pods, nodes := c.Guarded(client.NewNodePodProbeInformer(l, 0, cache.Indexers{}), nil), c.Guarded(core.Pods(), nil), c.Guarded(core.Nodes(), nil)
	forMarkers, err := podprobemarker.New(podprobemarker.Options{
		Kubernetes: kubernetes.NewForConfigOrDie(c.Config(markerUser)), Lifecycle: c.lifecycle(markerUser), ControllerOptions: podwright.ControllerOptions{Recorders: c.events.Of, Metrics: &c.markerReconciles},
		Markers: markers, Pods: pods, NodePodProbes: probes})
	c.Must(err)
	forNodes, err := nodepodprobe.New(nodepodprobe.Options{
		Kubernetes: kubernetes.NewForConfigOrDie(c.Config(nodeUser)), Lifecycle: c.lifecycle(nodeUser), ControllerOptions: podwright.ControllerOptions{Metrics: &c.nodeReconciles},
		Markers: markers, Pods: pods, NodePodProbes: probes, Nodes: nodes, Features: nodepodprobe.Features{Serverless: c.serverless}})
	c.Must(err)
	c.node, c.marker = forNodes, forMarkers
	for _, informer := range []cache.SharedIndexInformer{markers, probes, pods, nodes} {
		c.Go(fixture.Informing(informer))
	}
	c.Go(forMarkers.Run)
	c.Go(forNodes.Run)
}

// expectSettled waits for a moment. Then the controllers must have done everything that can be done: an event that they
// had missed would have left something.
func (c *cluster) expectSettled() {
	c.Helper()
	c.Sleep(30 * time.Second)
	nodes, err := c.kube.CoreV1().Nodes().List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range nodes.Items {
		next, err := ofNodes.Unfinished(c.node, types.NamespacedName{Name: nodes.Items[i].Name})
		if err != nil || next != "" {
			c.Errorf("node %s is not settled: %s, error %v", nodes.Items[i].Name, next, err)
		}
	}
	markers, err := c.markers.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range markers.Items {
		next, err := ofMarkers.Unfinished(c.marker, types.NamespacedName{Namespace: namespace, Name: markers.Items[i].Name})
		if err != nil || next != "" {
			c.Errorf("marker %s is not settled: %s, error %v", markers.Items[i].Name, next, err)
		}
	}
}

// addNode adds a node that is ready.
func (c *cluster) addNode(name string) {
	c.Helper()
	_, err := c.kube.CoreV1().Nodes().Create(c.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}, metav1.CreateOptions{})
	c.Must(err)
}

// addPod adds a pod of app=APP that is initialized.
func (c *cluster) addPod(node, name, app string) {
	c.Helper()
	pod, err := c.kube.CoreV1().Pods(namespace).Create(c.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}, metav1.CreateOptions{})
	c.Must(err)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}}
	_, err = c.kube.CoreV1().Pods(namespace).UpdateStatus(c.Context(), pod, metav1.UpdateOptions{})
	c.Must(err)
}

// mark creates a marker that selects app=APP, with its probes as YAML.
func (c *cluster) mark(name, app, probes string) {
	c.Helper()
	m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: name}}
	m.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	c.Must(yaml.UnmarshalStrict([]byte(probes), &m.Spec.Probes))
	_, err := c.markers.Create(c.Context(), m, metav1.CreateOptions{})
	c.Must(err)
	c.Sleep(time.Second)
}

// idle is a probe with everything.
const idle = `[{name: idle, containerName: main, podConditionType: Idle, probe: {exec: {command: [/idle]}},
  markerPolicy: [{state: Succeeded, labels: {idle: "yes"}, annotations: {controller.kubernetes.io/pod-deletion-cost: "-10"}}, {state: Failed, labels: {idle: "no"}}]}]`

// agent has the agent of a node report a state for all its probes, or for those of one pod. If the controller changes them meanwhile, the agent reports again; if it
// deletes them, there is nothing to report.
func (c *cluster) agent(node string, state v1alpha1.ProbeState, pods ...string) {
	c.Helper()
	probes := c.lifecycle(agentUser).NodePodProbes()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		n, err := probes.Get(c.Context(), node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		n.Status = results(n, state, pods)
		_, err = probes.UpdateStatus(c.Context(), n, metav1.UpdateOptions{})
		return err
	})
	if !apierrors.IsNotFound(err) {
		c.Must(err)
	}
	synctest.Wait()
}

// results is the status of an agent whose probes end in one state, all or those of some pods.
func results(n *v1alpha1.NodePodProbe, state v1alpha1.ProbeState, of []string) (out v1alpha1.NodePodProbeStatus) {
	at := metav1.Now()
	for i, pod := range n.Spec.PodProbes {
		if len(of) > 0 && !slices.Contains(of, pod.Name) {
			out.PodProbeStatuses = append(out.PodProbeStatuses, n.Status.PodProbeStatuses[i])
			continue
		}
		s := v1alpha1.PodProbeStatus{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		for _, p := range pod.Probes {
			s.ProbeStates = append(s.ProbeStates, v1alpha1.ContainerProbeState{Name: p.Name, State: state, LastProbeTime: &at, LastTransitionTime: &at})
		}
		out.PodProbeStatuses = append(out.PodProbeStatuses, s)
	}
	return out
}

// probed shows what all nodes probe, as "probes node pod probe", and at which address; of many pods of a node, how many they are.
func (c *cluster) probed() (out []string) {
	c.Helper()
	list, err := c.probes.List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, n := range list.Items {
		if len(n.Spec.PodProbes) > 9 {
			out = append(out, fmt.Sprintf("probes %s %d pods", n.Name, len(n.Spec.PodProbes)))
			continue
		}
		for _, pod := range n.Spec.PodProbes {
			for _, p := range pod.Probes {
				out = append(out, strings.TrimSuffix("probes "+n.Name+" "+pod.Name+" "+p.Name+" at "+pod.IP, " at "))
			}
		}
	}
	slices.Sort(out)
	return out
}

// pod shows what probes have made of a pod.
func (c *cluster) pod(name string) string {
	c.Helper()
	pod, err := c.kube.CoreV1().Pods(namespace).Get(c.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	c.Must(err)
	out := fmt.Sprintf("idle=%s cost=%s", pod.Labels["idle"], pod.Annotations["controller.kubernetes.io/pod-deletion-cost"])
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodInitialized {
			out += fmt.Sprintf(" %s=%s", condition.Type, condition.Status)
		}
	}
	return out
}

// sent lists the requests of the controllers since ForgetRequests, but not those of the informers, as "n verb resource".
func (c *cluster) sent() (out []string) {
	for _, user := range []string{markerUser, nodeUser} {
		for request, n := range c.Count(user) {
			if !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "watch ") {
				out = append(out, fmt.Sprint(n, " ", request))
			}
		}
	}
	slices.Sort(out)
	c.ForgetRequests()
	return out
}
