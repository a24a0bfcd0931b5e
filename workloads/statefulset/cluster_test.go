// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// cluster is a fake cluster with StatefulSets.
type cluster struct {
	*fixture.Cluster
	sets       client.StatefulSetInterface // the test's
	options    Options                     // for a controller that shares the informers
	reconciler Reconciler
}

var web = types.NamespacedName{Namespace: "default", Name: "web"}

// inCluster plays a story with StatefulSets.
func inCluster(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	c := &cluster{}
	kind := fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets")
	fixture.Play(t, kind, func(s *fixture.Cluster) {
		c.Cluster = s
		c.setUp()
	}, func(t *testing.T) { story(t, c) })
}

func (c *cluster) setUp() {
	c.T.Helper()
	c.sets = c.workloads(fixture.TestUser).StatefulSets(web.Namespace)
	workloads := c.workloads(fixture.ControllerUser)
	o := Options{
		Kubernetes: c.Client(fixture.ControllerUser), Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		AdvancedStatefulSets: c.Add(client.NewStatefulSetInformer(workloads, "", 0, cache.Indexers{})),
		Pods:                 c.PodInformer(), Claims: c.ClaimInformer(), Revisions: c.RevisionInformer(),
	}
	o.Reader = controller.Caches(o.reads())
	c.options = o
	c.restart()
	c.Unfinished = c.unfinished
}

func (c *cluster) workloads(user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// restart makes a Reconciler that remembers nothing.
func (c *cluster) restart() {
	c.T.Helper()
	r, err := NewReconciler(c.options)
	c.Must(err)
	c.reconciler, c.Reconcile = r, r.Reconcile
}

// start runs a controller that shares the informers. The function it returns
// stops the controller and waits for it.
func (c *cluster) start(edit ...func(*Options)) (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.Metrics = nil, reconciles
	return reconciles, fixture.StartNew(c.Cluster, New, o, edit...)
}

// plan is what the next reconcile would do; nil if there is no StatefulSet.
func (c *cluster) plan() *Plan {
	c.T.Helper()
	plan, err := c.reconciler.Plan(context.Background(), web)
	c.Must(err)
	return plan
}

// unfinished shows what the next reconcile would do.
func (c *cluster) unfinished() string {
	c.T.Helper()
	left, err := unfinished(c.reconciler, web)
	c.Must(err)
	return left
}

// unfinished shows what the next reconcile of a reconciler would do.
func unfinished(r Reconciler, key types.NamespacedName) (string, error) {
	plan, err := r.Plan(context.Background(), key)
	if plan == nil || err != nil || !acts(plan) {
		return "", err
	}
	return fmt.Sprintf("%+v", plan), nil
}

// create makes the StatefulSet web of one container that is updated in place,
// changed by a merge patch.
func (c *cluster) create(replicas int32, patch string) {
	c.T.Helper()
	c.Create(testSet(replicas), patch)
}

func testSet(replicas int32) *v1beta1.StatefulSet {
	return &v1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name},
		Spec: v1beta1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "web",
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec: corev1.PodSpec{
					Containers:     []corev1.Container{{Name: "main", Image: "nginx:1"}},
					ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}},
				},
			},
			UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
				PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType,
			}},
		},
	}
}

// Parts of StatefulSets.
const (
	withParallel = `{"spec":{"podManagementPolicy":"Parallel"}}`
	withClaims   = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	withRecreate = `{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"ReCreate"}}}}`
)

// spec joins merge patches.
func spec(c *cluster, patches ...string) string {
	c.T.Helper()
	joined := patches[0]
	for _, patch := range patches[1:] {
		joined = c.Merge(joined, patch)
	}
	return joined
}

func (c *cluster) get() *v1beta1.StatefulSet {
	c.T.Helper()
	set, err := c.sets.Get(c.T.Context(), web.Name, metav1.GetOptions{})
	c.Must(err)
	return set
}

// pod returns a pod.
func (c *cluster) pod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// images shows the pods as "name image", those that are being deleted with a
// mark.
func (c *cluster) images() []string {
	c.T.Helper()
	out := []string{}
	for _, pod := range c.Pods() {
		text := pod.Name + " " + pod.Spec.Containers[0].Image
		if pod.DeletionTimestamp != nil {
			text += " terminating"
		}
		out = append(out, text)
	}
	return out
}

// claims shows the claims as "name", followed by the kinds of their owners.
func (c *cluster) claims() []string {
	c.T.Helper()
	list, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	out := []string{}
	for _, claim := range list.Items {
		text := claim.Name
		for _, owner := range claim.OwnerReferences {
			text += " " + owner.Kind
		}
		out = append(out, text)
	}
	return out
}

// whole checks that everything is as the spec says.
func (c *cluster) whole() {
	c.T.Helper()
	set := c.get()
	n := *set.Spec.Replicas
	want := v1beta1.StatefulSetStatus{ObservedGeneration: set.Generation, Replicas: n, ReadyReplicas: n, AvailableReplicas: n,
		CurrentReplicas: n, UpdatedReplicas: n, UpdatedReadyReplicas: n, UpdatedAvailableReplicas: n,
		CurrentRevision: set.Status.UpdateRevision, UpdateRevision: set.Status.UpdateRevision,
		LabelSelector: "app=web", CollisionCount: set.Status.CollisionCount}
	if !statuses.Same(&want, &set.Status) || len(c.Pods()) != int(n) {
		c.T.Errorf("%d pods, status %+v", len(c.Pods()), set.Status)
	}
}

// deleteClaim deletes a claim as a user does.
func (c *cluster) deleteClaim(name string) {
	c.T.Helper()
	c.Must(c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Delete(c.T.Context(), name, metav1.DeleteOptions{}))
	synctest.Wait()
}

// patchClaim changes a claim by a merge patch.
func (c *cluster) patchClaim(name, patch string) {
	c.T.Helper()
	_, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Patch(c.T.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	c.Must(err)
	synctest.Wait()
}

// createClaim creates a claim as a user does, with a finalizer if that is
// not empty.
func (c *cluster) createClaim(name, finalizer string) {
	c.T.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if finalizer != "" {
		claim.Finalizers = []string{finalizer}
	}
	_, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Create(c.T.Context(), claim, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}
