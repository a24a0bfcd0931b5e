// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// of is the cluster of this package's tests on that of the suite. The pods on node
// slow never end, those on node bad fail.
func of(c *conformance.Cluster) *cluster {
	return &cluster{Kind: &fixture.Kind[Options, Snapshot, Plan]{Cluster: c.Cluster}, ends: func(node string) (corev1.PodPhase, bool) {
		if node == "bad" {
			return corev1.PodFailed, true
		}
		return corev1.PodSucceeded, node != "slow"
	}}
}

// suite is what the scenarios of a BroadcastJob have in common. It runs on four nodes, two at a time, and never ends on one of
// them.
func suite(change func(c *conformance.Cluster, name string), more ...string) conformance.Subject {
	get := func(c *conformance.Cluster, name string) (*v1alpha1.BroadcastJob, error) {
		return connect(c.Cluster, fixture.TestUser).BroadcastJobs(web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	}
	return conformance.Subject{
		Resource: jobResource, Watches: []string{"broadcastjobs", "pods", "nodes"},
		Writes:  append([]string{"create pods", "delete pods", "patch broadcastjobs/status"}, more...),
		Trusted: map[string]string{"patch broadcastjobs/status": "a job whose status says that it has ended has"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			workloads, kube := connect(c.Cluster, fixture.ControllerUser), c.Client(fixture.ControllerUser)
			core := caches.NewInformers(kube, "")
			o := Options{Kubernetes: kube, Workloads: workloads, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				BroadcastJobs: c.Share(client.NewBroadcastJobInformer(workloads, "", 0, cache.Indexers{})),
				Pods:          c.Share(core.Pods()), Nodes: c.Share(core.Nodes())}
			return conformance.Made(tested, o, Rules(o))
		},
		Prepare: func(c *conformance.Cluster) {
			c.AddNodes(newNode("bad"), newNode("good"), newNode("other"), newNode("slow"))
		},
		Create: func(c *conformance.Cluster, name string) {
			c.Create(testJob(name), `{"spec":{"parallelism":2,"failurePolicy":{"type":"Continue"}}}`)
		},
		Change: change,
		Step:   func(c *conformance.Cluster) { of(c).nodeStep(); c.CollectGarbage() },
		Outcome: func(c *conformance.Cluster, name string) string {
			active := 0
			for _, pod := range c.Pods() {
				if metav1.GetControllerOf(&pod).Name == name && pod.Status.Phase == corev1.PodRunning {
					active++
				}
			}
			job, err := get(c, name)
			if apierrors.IsNotFound(err) {
				return fmt.Sprint("gone, active pods: ", active)
			}
			c.Must(err)
			return fmt.Sprintf("%s\nactive pods: %d", outcome(job), active)
		},
		Noise: func(c *conformance.Cluster, i int) {
			c.Heartbeat(i)
			for _, node := range []string{"good", "slow"} {
				beat := fmt.Sprintf(`{"metadata":{"annotations":{"beat":"%d"}},"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:%02dZ"}],
					"images":[{"sizeBytes":%d}],"nodeInfo":{"bootID":"%d"}}}`, i, i, i, i)
				c.PatchNode(node, beat, "status")
			}
		},
		Strangers: func(c *conformance.Cluster, name string) { c.CreateStrangers(name) },
	}
}

// TestConformance cordons the node on which a job does not end: the job is complete. (BJ-1, BJ-7, BJ-13)
func TestConformance(t *testing.T) {
	k := suite(func(c *conformance.Cluster, _ string) { of(c).cordon("slow") })
	k.Unasked = map[string]string{"delete apps.kruise.io/broadcastjobs": "TestConformanceOfFailure does, by ttlSecondsAfterFinished"}
	conformance.Test(t, k)
}

// TestConformanceOfFailure fails a job, which is deleted afterwards. (BJ-1, BJ-11, BJ-14)
func TestConformanceOfFailure(t *testing.T) {
	conformance.Test(t, suite(func(c *conformance.Cluster, name string) {
		c.EditNamed(name, `{"spec":{"failurePolicy":{"type":"FailFast"},"completionPolicy":{"ttlSecondsAfterFinished":5}}}`)
	}, "delete broadcastjobs"))
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube, workloads := fixture.Connect(t, server, "test", kubernetes.NewForConfig), fixture.Connect(t, server, "test", client.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Workloads: workloads}, Required: "Kubernetes Workloads",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}
