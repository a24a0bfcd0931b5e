// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	web         = fixture.Web
	jobResource = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind(kind), "broadcastjobs")
)

var tested = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: acts}

// acts tells whether a plan does anything at all.
func acts(p *Plan) bool { return len(p.Create)+len(p.Delete) > 0 || p.Status != nil || p.DeleteJob }

// cluster is a fake cluster with BroadcastJobs.
type cluster struct {
	*fixture.Kind[Options, Snapshot, Plan]
	finished finished
	// ends says how the pod of a node ends, and whether it does. Nil: all succeed.
	ends func(node string) (corev1.PodPhase, bool)
}

// finished is JobMetrics.
type finished []string

func (f *finished) Finished(phase v1alpha1.BroadcastJobPhase, succeeded, failed int32, took time.Duration) {
	*f = append(*f, fmt.Sprintf("%s after %s: %d succeeded, %d failed", phase, took, succeeded, failed))
}

func newCluster(f *fixture.Cluster) *cluster {
	c := &cluster{}
	workloads, kube := connect(f, fixture.ControllerUser), f.Client(fixture.ControllerUser)
	o := Options{
		Kubernetes: kube, Workloads: workloads, ControllerOptions: podwright.ControllerOptions{Recorders: f.Events.Of}, JobMetrics: &c.finished,
		BroadcastJobs: f.Add(client.NewBroadcastJobInformer(workloads, "", 0, cache.Indexers{})),
		Pods:          f.PodInformer(),
		Nodes:         f.Add(caches.NewInformers(kube, "").Nodes()),
	}
	o.Reader = controller.Caches(o.reads())
	c.Kind = fixture.NewKind(f, tested, o)
	return c
}

func connect(f *fixture.Cluster, user string) client.Interface {
	return fixture.Connect(f.T, f.Server, user, client.NewForConfig)
}

func testJob(name string) *v1alpha1.BroadcastJob {
	job := newJob()
	job.Name, job.UID, job.Generation = name, "", 0
	return job
}

// cordon keeps pods away from nodes.
func (c *cluster) cordon(names ...string) {
	c.T.Helper()
	for _, name := range names {
		c.PatchNode(name, `{"spec":{"unschedulable":true}}`)
	}
}

// settle lets nodes and controller work for a while.
func (c *cluster) settle() {
	c.T.Helper()
	for range 10 {
		c.nodeStep()
		c.CollectGarbage()
		c.Sleep("2s")
	}
}

// nodeStep has scheduler and kubelets make a step for every pod: bind it, run it, end it.
func (c *cluster) nodeStep() {
	c.T.Helper()
	for _, pod := range c.Pods() {
		err := c.podStep(&pod)
		if !apierrors.IsNotFound(err) {
			c.Must(err)
		}
	}
	synctest.Wait()
}

func (c *cluster) podStep(pod *corev1.Pod) error {
	pods := c.Kube.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		return pods.Delete(c.T.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	case pod.Spec.NodeName == "" && (scheduler.NodeOf(pod) == "" || len(pod.Spec.NodeSelector) > 0): // a stranger, or one that no node takes
		return nil
	case pod.Spec.NodeName == "":
		return pods.Bind(c.T.Context(), &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: scheduler.NodeOf(pod)},
		}, metav1.CreateOptions{})
	case pod.Status.Phase == "" || pod.Status.Phase == corev1.PodPending:
		return c.setPhase(pod, corev1.PodRunning)
	case pod.Status.Phase == corev1.PodRunning:
		if c.ends == nil {
			return c.setPhase(pod, corev1.PodSucceeded)
		}
		if phase, ends := c.ends(pod.Spec.NodeName); ends {
			return c.setPhase(pod, phase)
		}
	}
	return nil
}

func (c *cluster) setPhase(pod *corev1.Pod, phase corev1.PodPhase) error {
	_, err := c.Kube.CoreV1().Pods(pod.Namespace).Patch(c.T.Context(), pod.Name, types.StrategicMergePatchType,
		fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"phase":%q}}`, pod.UID, phase), metav1.PatchOptions{}, "status")
	return err
}

// outcome shows the status of the job, without times.
func (c *cluster) outcome() string {
	c.T.Helper()
	job, err := connect(c.Cluster, fixture.TestUser).BroadcastJobs(web.Namespace).Get(c.T.Context(), web.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "gone"
	}
	c.Must(err)
	return outcome(job)
}

func outcome(job *v1alpha1.BroadcastJob) string {
	s := &job.Status
	out := []string{fmt.Sprintf("%s desired=%d active=%d succeeded=%d failed=%d", s.Phase, s.Desired, s.Active, s.Succeeded, s.Failed)}
	for _, condition := range s.Conditions {
		out = append(out, fmt.Sprintf("%s: %s", condition.Type, condition.Message))
	}
	for _, node := range slices.Sorted(maps.Keys(s.NodeResults)) {
		out = append(out, fmt.Sprintf("%s %s", node, s.NodeResults[node]))
	}
	return strings.Join(out, "\n")
}
