// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"testing"

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
	"github.com/podwright/podwright/internal/testing/patches"
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

// words change pods and budgets.
var words = patches.Read("testdata/words.yaml", at)

// pod creates a pod of a workload, and makes it ready. Words change it before.
func (c *cluster) pod(name string, owner metav1.OwnerReference, changes ...string) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().Pods("default").Create(c.T.Context(), newPod(name, owner, changes...), metav1.CreateOptions{})
	c.Must(err)
	c.ready(name)
}

func newPod(name string, owner metav1.OwnerReference, changes ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
	if owner.UID != "" {
		pod.OwnerReferences = []metav1.OwnerReference{owner}
	}
	return patches.Changed(words, pod, changes...)
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

func ownerOf(version, kind, name, uid string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid), Controller: new(true)}
}

// newBudget is a budget of the CloneSet web, unless words change it.
func newBudget(name, maxUnavailable string, changes ...string) *v1alpha1.PodUnavailableBudget {
	value := intstr.Parse(maxUnavailable)
	b := &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &v1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}, MaxUnavailable: &value}}
	return patches.Changed(words, b, changes...)
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

// byNamespace are the indexers of a cache that a test makes by itself.
var byNamespace = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

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
