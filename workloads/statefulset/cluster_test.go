// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// cluster is a fake cluster with StatefulSets.
type cluster struct {
	*fixture.Cluster
	options    Options // for a controller that shares the informers
	reconciler Reconciler
	reconciles *fixture.Reconciles // of the controller that runs

	classIs    string // how the storage class is
	classReads int
}

var web = types.NamespacedName{Namespace: "default", Name: "web"}

func (c *cluster) setUp() {
	c.T.Helper()
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
func (c *cluster) start() (reconciles *fixture.Reconciles, stop func()) {
	c.T.Helper()
	c.reconciles = &fixture.Reconciles{}
	o := c.options
	o.Reader, o.Metrics = nil, c.reconciles
	return c.reconciles, fixture.StartNew(c.Cluster, New, o)
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
