// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// inject has the API server change new pods by these fields of their spec.
func (c *cluster) inject(value any, fields ...string) {
	c.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		if request.Verb == "create" && request.Resource == "pods" {
			c.Must(unstructured.SetNestedField(object.Object, value, append([]string{"spec"}, fields...)...))
		}
	})
}

// created counts the pods that the controller has created.
func (c *cluster) created() (n int) {
	for _, r := range c.Requests(fixture.ControllerUser) {
		if r.Verb == "create" && r.Resource == "pods" {
			n++
		}
	}
	return n
}

// BJ-27: whatever takes their nodes from new pods, a node gets no second one for that.
func TestPodsWithoutNode(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.inject(map[string]any{}, "affinity")
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		time.Sleep(10 * time.Minute)
		if n := c.created(); n != 2 {
			t.Errorf("%d pods for 2 nodes", n)
		}
		if all := strings.Join(c.Events.All(), "\n"); strings.Count(all, eventPodWithoutNode) != 1 {
			t.Errorf("events:\n%s", all)
		}
	})
}

// BJ-13: a job is not complete while admission makes the pods of a node unfit for it. The node is run once admission does not.
func TestJobWaitsForPodsMadeUnfit(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		spoils := true
		c.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
			if !spoils || request.Verb != "create" || request.Resource != "pods" {
				return
			}
			pod := &corev1.Pod{}
			c.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod))
			if scheduler.NodeOf(pod) == "n2" {
				c.Must(unstructured.SetNestedField(object.Object, "gpu", "spec", "nodeSelector", "pool"))
			}
		})
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		play := func(seconds int) {
			for range seconds {
				for _, pod := range c.Pods() {
					if pod.DeletionTimestamp != nil || len(pod.Spec.NodeSelector) == 0 { // the scheduler binds no others
						c.Must(c.podStep(&pod))
					}
				}
				time.Sleep(time.Second)
			}
		}
		play(100)
		if job := c.get(); job.Status.Phase != v1alpha1.PhaseRunning || job.Status.Succeeded != 1 {
			t.Errorf("n2 was not run, and the status is %v", job.Status)
		}
		spoils = false
		play(300)
		if job := c.get(); job.Status.Phase != v1alpha1.PhaseCompleted || job.Status.Succeeded != 2 {
			t.Errorf("both nodes were run, and the status is %v", job.Status)
		}
	})
}

// BJ-7: a pod that admission has made unfit for its node is replaced less and less often.
func TestPodsMadeUnfit(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.inject(map[string]any{"pool": "gpu"}, "nodeSelector")
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		for range 600 {
			for _, pod := range c.Pods() {
				if pod.DeletionTimestamp != nil {
					c.Must(c.podStep(&pod))
				}
			}
			time.Sleep(time.Second)
		}
		if n := c.created(); n < 2 || n > 15 {
			t.Errorf("%d pods for one node in 10 minutes", n)
		}
	})
}
