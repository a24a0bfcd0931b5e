// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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
