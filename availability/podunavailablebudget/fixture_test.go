// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The resources of the tests, beside those that every fake cluster has.
var (
	budgetResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("PodUnavailableBudget"), "podunavailablebudgets")
	others         = []fakecluster.Resource{
		fakecluster.CustomResource(workloadsv1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		fakecluster.CustomResource(workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", func() any { return &appsv1.ReplicaSet{} }),
		fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }),
		fakecluster.BuiltIn(policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"), "poddisruptionbudgets", func() any { return &policyv1.PodDisruptionBudget{} }),
		fakecluster.BuiltIn(corev1.SchemeGroupVersion.WithKind("ReplicationController"), "replicationcontrollers", func() any { return &corev1.ReplicationController{} }),
	}
)

// cluster is a fake cluster with budgets.
type cluster struct {
	*fixture.Cluster
	budgets client.Interface
	options Options
}

func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	var c *cluster
	fixture.Play(t, budgetResource, func(f *fixture.Cluster) { c = newCluster(f) }, func(t *testing.T) { story(t, c) }, others...)
}

func newCluster(f *fixture.Cluster) *cluster {
	return &cluster{Cluster: f, budgets: connect(f, fixture.TestUser, client.NewForConfig), options: Options{
		Kubernetes: f.Client(fixture.ControllerUser), Availability: connect(f, fixture.ControllerUser, client.NewForConfig),
		Workloads: connect(f, fixture.ControllerUser, workloadsclient.NewForConfig), ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of},
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

// object creates an object of an API group and version, such as "apps/v1/deployments".
func (c *cluster) object(path, object string) {
	c.T.Helper()
	prefix := "/apis/"
	if path[:2] == "v1" {
		prefix = "/api/"
	}
	version, resource := filepath.Split(path)
	c.Must(c.Kube.CoreV1().RESTClient().Post().AbsPath(prefix+version+"namespaces/default/"+resource).SetHeader("Content-Type", "application/json").Body([]byte(object)).Do(c.T.Context()).Error())
	synctest.Wait()
}

// cloneSet creates the CloneSet web.
func (c *cluster) cloneSet(replicas int) {
	c.T.Helper()
	c.object("apps.kruise.io/v1alpha1/clonesets", fmt.Sprintf(`{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":"web"}}}}`, replicas))
}

// scale changes how many pods an object wants, at a path below its API group and version.
func (c *cluster) scale(path string, replicas int) {
	c.T.Helper()
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	c.Must(c.Kube.CoreV1().RESTClient().Patch("application/merge-patch+json").AbsPath("/apis/" + path).Body([]byte(patch)).Do(c.T.Context()).Error())
	synctest.Wait()
}

const webPath = "apps.kruise.io/v1alpha1/namespaces/default/clonesets/web"

// uid reads the UID of an object.
func (c *cluster) uid(path string) (uid string) {
	c.T.Helper()
	var object metav1.PartialObjectMetadata
	data, err := c.Kube.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(c.T.Context())
	c.Must(err)
	c.Must(json.Unmarshal(data, &object))
	return string(object.UID)
}

// pod creates a pod of a workload, and makes it ready. Changes come before.
func (c *cluster) pod(name string, owner metav1.OwnerReference, changes ...func(*corev1.Pod)) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods("default").Create(c.T.Context(), newPod(name, owner, changes...), metav1.CreateOptions{})
	c.Must(err)
	c.ready(name)
}

func newPod(name string, owner metav1.OwnerReference, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if owner.UID != "" {
		pod.OwnerReferences = []metav1.OwnerReference{owner}
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// ready has a pod run what its spec says, and be ready.
func (c *cluster) ready(name string) {
	c.T.Helper()
	pod := c.livePod(name)
	image := pod.Spec.Containers[0].Image
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: image, ImageID: "sha256:" + image, Ready: true}},
	}
	_, err := c.Kube.CoreV1().Pods("default").UpdateStatus(c.T.Context(), pod, metav1.UpdateOptions{})
	c.Must(err)
}

func (c *cluster) owner() metav1.OwnerReference {
	c.T.Helper()
	return ownerOf("apps.kruise.io/v1alpha1", "CloneSet", "web", c.uid("/apis/"+webPath))
}

func ownerOf(version, kind, name, uid string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}
}

// newBudget is a budget of the CloneSet web.
func newBudget(name, maxUnavailable string, changes ...func(*v1alpha1.PodUnavailableBudget)) *v1alpha1.PodUnavailableBudget {
	value := intstr.Parse(maxUnavailable)
	b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}, MaxUnavailable: &value}}
	for _, change := range changes {
		change(b)
	}
	return b
}

func bySelector(b *v1alpha1.PodUnavailableBudget) {
	b.Spec.TargetReference, b.Spec.Selector = nil, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func targeting(version, kind, name string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		b.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: version, Kind: kind, Name: name}
	}
}

func (c *cluster) createBudget(b *v1alpha1.PodUnavailableBudget) {
	c.T.Helper()
	_, err := c.budgets.PodUnavailableBudgets("default").Create(c.T.Context(), b, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}

func (c *cluster) budget(name string) *v1alpha1.PodUnavailableBudget {
	c.T.Helper()
	b, err := c.budgets.PodUnavailableBudgets("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return b
}

// show shows the status of a budget, and how many pods name it.
func (c *cluster) show(name string) string {
	c.T.Helper()
	s, linked := c.budget(name).Status, 0
	for _, pod := range c.Pods() {
		if relatedTo(&pod) == name {
			linked++
		}
	}
	text := fmt.Sprintf("%d of %d available, %d desired, %d allowed; %d linked", s.CurrentAvailable, s.TotalReplicas, s.DesiredAvailable, s.UnavailableAllowed, linked)
	if n := len(s.DisruptedPods) + len(s.UnavailablePods); n > 0 {
		text += fmt.Sprintf("; %d recorded", n)
	}
	return text
}

// noOwner is that of pods without a controller.
var noOwner metav1.OwnerReference

// selecting selects the pods that are labelled with the name.
func selecting(name string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) {
		bySelector(b)
		b.Spec.Selector.MatchLabels["app"] = name
	}
}

func labelled(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels["app"] = name }
}

// byNamespace are the indexers of a cache that a test makes by itself.
var byNamespace = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

func annotated(key, value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Annotations = map[string]string{key: value} }
}

func (c *cluster) livePod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

const (
	readyPatch   = `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
	unreadyPatch = `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`
)
