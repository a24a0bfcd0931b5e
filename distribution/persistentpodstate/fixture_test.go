// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

const (
	host = "kubernetes.io/hostname"
	zone = "topology.kubernetes.io/zone"
)

var games = schema.GroupVersionKind{Group: "game.kruise.io", Version: "v1alpha1", Kind: "GameServerSet"}

// The resources of the tests, beside those that every fake cluster has.
var (
	stateResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "persistentpodstates")
	others        = []fakecluster.Resource{
		fakecluster.CustomResource(advancedStatefulSets, "statefulsets"), fakecluster.CustomResource(games, "gameserversets"),
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }},
		{GroupVersionKind: statefulSets, Name: "statefulsets", Status: true, Generation: true, Type: func() any { return &appsv1.StatefulSet{} }},
	}
)

// watched are the resources that the controller watches of StatefulSets of Kubernetes alone.
var watched = []string{"persistentpodstates", "pods", "nodes", "statefulsets.apps"}

// cluster is a fake cluster with PersistentPodStates.
type cluster struct {
	*fixture.Cluster
	states  client.Interface
	options Options
}

func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	var c *cluster
	fixture.Play(t, stateResource, func(f *fixture.Cluster) { c = newCluster(f) }, func(t *testing.T) { story(t, c) }, others...)
}

func newCluster(f *fixture.Cluster) *cluster {
	return &cluster{Cluster: f, states: connect(f, fixture.TestUser, client.NewForConfig), options: Options{
		Kubernetes: f.Client(fixture.ControllerUser), Distribution: connect(f, fixture.ControllerUser, client.NewForConfig),
		Workloads: connect(f, fixture.ControllerUser, workloadsclient.NewForConfig), ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of},
		Dynamic: connect(f, fixture.ControllerUser, dynamic.NewForConfig), Custom: []CustomKind{{Kind: games, Resource: "gameserversets"}},
	}}
}

func connect[C any](f *fixture.Cluster, user string, connect func(*rest.Config) (C, error)) C {
	f.T.Helper()
	return fixture.Connect(f.T, f.Server, user, connect)
}

// start runs a controller with informers of its own. The function it returns stops it.
func (c *cluster) start(edits ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Metrics = reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edits...)
}

// webPath is the path of StatefulSets of Kubernetes.
const webPath = "apps/v1/statefulsets"

// owner refers to a workload as the controller of its pods.
func (c *cluster) owner(path, name string) metav1.OwnerReference {
	c.T.Helper()
	of := c.Object("get", path+"/"+name, "")
	return metav1.OwnerReference{APIVersion: of.APIVersion, Kind: of.Kind, Name: of.Name, UID: of.UID, Controller: new(true)}
}

// nodes creates nodes whose zones are named after the first letter of their names.
func (c *cluster) nodes(names ...string) {
	c.T.Helper()
	for _, name := range names {
		c.AddNodes(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{host: name, zone: "zone-" + name[:1]}}})
	}
}

// loseNode deletes a node, and the pods on it as the garbage collector of pods does.
func (c *cluster) loseNode(name string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().Nodes().Delete(c.T.Context(), name, metav1.DeleteOptions{}))
	synctest.Wait()
	for _, pod := range c.Pods() {
		if pod.Spec.NodeName == name {
			c.RemovePod(pod.Name)
		}
	}
}

// create creates a pod of a workload, placed as a webhook or a workload places it.
func (c *cluster) create(name string, owner metav1.OwnerReference, changes ...func(*corev1.Pod)) *podstate.Placement {
	c.T.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	for _, change := range changes {
		change(pod)
	}
	list, err := c.states.PersistentPodStates("default").List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	var states []*v1alpha1.PersistentPodState
	for i := range list.Items {
		states = append(states, &list.Items[i])
	}
	placed := podstate.Place(podstate.For(states, pod), pod, podstate.NewNodes(c.allNodes()))
	_, err = c.Kube.CoreV1().Pods("default").Create(c.T.Context(), placed.Pod, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
	return placed
}

func (c *cluster) allNodes() (nodes []*corev1.Node) {
	c.T.Helper()
	list, err := c.Kube.CoreV1().Nodes().List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range list.Items {
		nodes = append(nodes, &list.Items[i])
	}
	return nodes
}

// schedule binds the pods that wait to nodes that fit, and makes them ready.
func (c *cluster) schedule() {
	c.T.Helper()
	for _, pod := range c.Pods() {
		if pod.Spec.NodeName == "" {
			if node := c.fits(&pod); node != "" {
				c.bind(pod.Name, node)
			}
		}
	}
}

// fits finds the node that a pod fits on, the one with the fewest pods.
func (c *cluster) fits(pod *corev1.Pod) (best string) {
	count := map[string]int{}
	for _, pod := range c.Pods() {
		count[pod.Spec.NodeName]++
	}
	for _, node := range c.allNodes() {
		if nodefit.New(&pod.Spec).Check(node) == "" && (best == "" || count[node.Name] < count[best]) {
			best = node.Name
		}
	}
	return best
}

// bind puts a pod on a node. It becomes ready there.
func (c *cluster) bind(pod, node string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().Pods("default").Bind(c.T.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{}))
	c.PatchPod(pod, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, "status")
	synctest.Wait()
}

// newState is a PersistentPodState of the StatefulSet web of Kubernetes.
func newState(name string, changes ...func(*v1alpha1.PersistentPodState)) *v1alpha1.PersistentPodState {
	s := &v1alpha1.PersistentPodState{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.PersistentPodStateSpec{
		TargetReference: v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func requires(keys ...string) func(*v1alpha1.PersistentPodState) {
	return func(s *v1alpha1.PersistentPodState) {
		s.Spec.RequiredPersistentTopology = &v1alpha1.NodeTopologyTerm{NodeTopologyKeys: keys}
	}
}

func targeting(version, kind, name string) func(*v1alpha1.PersistentPodState) {
	return func(s *v1alpha1.PersistentPodState) {
		s.Spec.TargetReference = v1alpha1.TargetReference{APIVersion: version, Kind: kind, Name: name}
	}
}

// state reads a PersistentPodState; nil if there is none.
func (c *cluster) state(name string) *v1alpha1.PersistentPodState {
	c.T.Helper()
	s, err := c.states.PersistentPodStates("default").Get(c.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.Must(err)
	return s
}

// show shows the status of a PersistentPodState: the nodes on which pods ran, and what is lost.
func (c *cluster) show(name string) string {
	c.T.Helper()
	s := c.state(name)
	if s == nil {
		return "none"
	}
	var names []string
	for name := range s.Status.PodStates {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	var words []string
	for _, name := range names {
		words = append(words, name+" on "+s.Status.PodStates[name].NodeName)
	}
	text := strings.Join(words, ", ")
	switch {
	case len(words) > 99:
		text = fmt.Sprint(len(words), " recorded")
	case text == "":
		text = "nothing recorded"
	}
	if s.Status.Lost > 0 || meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.TopologyLostCondition) {
		text += fmt.Sprintf("; %d lost", s.Status.Lost)
	}
	if large := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.StateTooLargeCondition); large != nil && large.Status == metav1.ConditionTrue {
		text += "; too large: " + large.Message
	}
	if s.Status.ObservedGeneration != s.Generation {
		text += "; of another generation"
	}
	return text
}
