// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// TestRequests pins what a WorkloadSpread costs: one request for a new pod, and one for the status of all
// that come at once. Once it is settled it costs none. (WS-23)
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.deployment("web", 30)
		owner := c.replicaSet("web", 1, 30)
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 50%}, {name: b}]")
		c.Sleep("1s")
		c.ForgetRequests()
		for i := range 30 {
			c.CreatePod(newPod(fmt.Sprint("web-", i), string("ab"[i%2]), owner, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-1" }))
		}
		c.Sleep("2s")
		if diff := cmp.Diff([]string{"30 patch pods", "1 patch workloadspreads/status"}, c.Sent()); diff != "" {
			t.Errorf("new pods (-want +got) %s", diff)
		}
		for i := range 30 {
			c.run(fmt.Sprint("web-", i))
		}
		c.Sleep("2s")
		c.ForgetRequests()
		before := reconciles.Count()
		for i := range 10 {
			c.Heartbeat(i)
			c.Sleep("1m")
		}
		if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
			t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
		}
	})
}

// counted is a SpreadMetrics.
type counted struct{ lines []string }

func (m *counted) Counted(namespace, name string, status *v1alpha1.WorkloadSpreadStatus) {
	m.lines = append(m.lines, namespace+"/"+name+": "+describe(status))
}

func (m *counted) Gone(namespace, name string) {
	m.lines = append(m.lines, namespace+"/"+name+" is gone")
}

func TestMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		metrics := &counted{}
		_, stop := c.start(func(o *Options) { o.SpreadMetrics = metrics })
		c.deployment("web", 3)
		c.createSpread("web", twoLimits)
		c.Sleep("1s")
		c.Must(c.spreads.WorkloadSpreads("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
		c.Sleep("1s")
		stop()
		if diff := cmp.Diff([]string{"default/web: a has 0, misses 2; b has 0, misses 2; c has 0", "default/web is gone"}, metrics.lines); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

func TestPlanNothing(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if p := NewPlan(s); len(p.Problems) == 0 || p.String() == "" {
			t.Errorf("problems %v", p.Problems)
		}
	}
}
