// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/statefulset"
)

var _ workloads.Placement = (*Placer)(nil)

// together has the controller of Advanced StatefulSets place its pods, beside that of PersistentPodStates. No webhook runs.
func together(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	inCluster(t, func(t *testing.T, c *cluster) {
		p := c.placer(nil)
		sets, err := statefulset.New(statefulset.Options{
			Kubernetes: c.Client("statefulset"), Workloads: connect(c.Cluster, "statefulset", workloadsclient.NewForConfig), Placement: p,
		})
		c.Must(err)
		c.Kubelet.Schedule = func(pod *corev1.Pod) (best string) {
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
		_, stop := c.start()
		defer stop()
		defer c.Start(p.Run)()
		defer c.Start(sets.Run)()
		c.nodes("a1", "b1", "c1")
		c.workload(astsPath, "web", `{"replicas":3,"podManagementPolicy":"Parallel","selector":{"matchLabels":{"app":"web"}},
			"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}`,
			`"kruise.io/auto-generate-persistent-pod-state":"true","kruise.io/required-persistent-topology":"`+host+`"`)
		c.until("1m", func() bool { return len(c.where()) == 3 })
		c.Sleep("1s")
		story(t, c)
	})
}

// until has kubelets work until something holds, and returns how long that took.
func (c *cluster) until(limit string, holds func() bool) time.Duration {
	c.T.Helper()
	most, err := time.ParseDuration(limit)
	c.Must(err)
	for start := time.Now(); ; c.Sleep("1s") {
		c.KubeletStep()
		switch took := time.Since(start); {
		case holds():
			return took
		case took > most:
			c.T.Fatalf("it takes more than %s: pods are on %v, %s", limit, c.where(), c.show("web"))
		}
	}
}

// where says on which nodes ready pods run.
func (c *cluster) where() map[string]string {
	on := map[string]string{}
	for _, pod := range c.Pods() {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				on[pod.Name] = pod.Spec.NodeName
			}
		}
	}
	return on
}

// PPS-27: pods of an Advanced StatefulSet go back to their nodes, whether a user deletes them or an update does. Nothing is
// written about that. (PPS-9)
func TestTogether(t *testing.T) {
	together(t, func(t *testing.T, c *cluster) {
		first := c.where()
		c.ForgetRequests()
		for name := range first {
			c.removePod(name)
		}
		c.until("1m", func() bool { return len(c.where()) == 3 })
		if diff := cmp.Diff(first, c.where()); diff != "" {
			t.Errorf("PPS-12: deleted (-before +after):\n%s", diff)
		}
		c.edit(astsPath, "web", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		c.until("5m", func() bool {
			updated := 0
			for _, pod := range c.Pods() {
				if pod.Spec.Containers[0].Image == "nginx:2" && c.where()[pod.Name] != "" {
					updated++
				}
			}
			return updated == 3
		})
		if diff := cmp.Diff(first, c.where()); diff != "" {
			t.Errorf("PPS-12: updated (-before +after):\n%s", diff)
		}
		if sent := c.Count(fixture.ControllerUser); len(sent) > 0 {
			for request := range maps.Keys(sent) {
				if !strings.HasPrefix(request, "watch ") && !strings.HasPrefix(request, "list ") {
					t.Errorf("PPS-9: %d times %s", sent[request], request)
				}
			}
		}
	})
}

// PPS-13, PPS-19: a node goes. Its pod is somewhere else within 60 s, also if the placer is told late of it.
func TestTogetherNodeGone(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("told late: %v", late), func(t *testing.T) {
			together(t, func(t *testing.T, c *cluster) {
				first := c.where()
				if late {
					c.Hold("nodes")
				}
				c.loseNode(first["web-1"])
				if late {
					c.Sleep("10s")
					c.Release("nodes")
				}
				took := c.until("2m", func() bool { return len(c.where()) == 3 })
				t.Logf("it took %s, %v", took, c.Events.All())
				if took > time.Minute || c.where()["web-1"] == first["web-1"] || c.where()["web-0"] != first["web-0"] {
					t.Errorf("PPS-19: after %s pods are on %v", took, c.where())
				}
			})
		})
	}
}
