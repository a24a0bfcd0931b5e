// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestAMillionReplicas plans for as many pods as a StatefulSet may have. One user must not have the controller of all others busy
// for long. A plan allocates for each pod as little as one for a tenth of them does.
func TestAMillionReplicas(t *testing.T) {
	allocations := func(n int32) float64 {
		s := testSnapshot(t, "A", "A", "0A 1A", replicas(n))
		return testing.AllocsPerRun(1, func() {
			if plan := NewPlan(s); len(plan.Create) == 0 || len(plan.Problems) > 0 {
				t.Fatalf("%d pods, problems: %s", len(plan.Create), problems(plan))
			}
		})
	}
	tenth, whole := allocations(mostReplicas/10), allocations(mostReplicas)
	t.Logf("%.0f and %.0f allocations", tenth, whole)
	if whole > 11*tenth {
		t.Errorf("%.0f allocations for %d pods, %.0f for a tenth of them", whole, mostReplicas, tenth)
	}
}

// TestExtremeData has single pods and revisions with data that no controller can read.
func TestExtremeData(t *testing.T) {
	const long = 64 // characters more than a label value may have
	for _, test := range []struct {
		name   string
		change func(*cluster)
	}{
		{"the state of an update in place", func(c *cluster) { c.annotate("apps.kruise.io/inplace-update-state", "{") }},
		{"a grace period", func(c *cluster) { c.annotate("apps.kruise.io/inplace-update-grace", "{") }},
		{"the time of a state", func(c *cluster) { c.annotate("lifecycle.apps.kruise.io/timestamp", "yesterday") }},
		{"what the node says of containers", func(c *cluster) { c.annotate("apps.kruise.io/runtime-containers-meta", "{") }},
		{"a lifecycle state", func(c *cluster) { c.LabelPods("lifecycle.apps.kruise.io/state", "x") }},
		{"an annotation of the StatefulSet", func(c *cluster) {
			c.Edit(`{"metadata":{"annotations":{"apps.kruise.io/image-predownload-parallelism":"x"}}}`)
		}},
		{"a pod of the highest ordinal", func(c *cluster) {
			c.CreatePod(stranger("web-2147483647", map[string]string{"app": "web"}))
			c.CreatePod(stranger("web-2147483648", map[string]string{"app": "web"}))
		}},
		{"a name of the StatefulSet that no pod can have", func(c *cluster) {
			set := testSet(2)
			set.Name = strings.Repeat("x", long)
			c.Create(set, "")
		}},
		{"reserved ordinals that make names too long", func(c *cluster) {
			c.Edit(`{"spec":{"reserveOrdinals":[0,1,2,3,4,5,6,7,8,9,2147483647,-1]}}`)
		}},
		{"a claim template of a name that no claim can have", func(c *cluster) {
			c.Edit(`{"spec":{"replicas":5,"volumeClaimTemplates":[{"metadata":{"name":"!"},"spec":{}}]}}`)
		}},
		{"claim templates of the same name", func(c *cluster) {
			c.Edit(`{"spec":{"replicas":5,"volumeClaimTemplates":[{"metadata":{"name":"data"}},{"metadata":{"name":"data"}}]}}`)
		}},
		{"a template that no API server takes", func(c *cluster) {
			c.Edit(`{"spec":{"replicas":5,"template":{"metadata":{"labels":{"app":"web","x":"!"}}}}}`)
		}},
		{"a template that the selector does not select", func(c *cluster) { c.Edit(`{"spec":{"replicas":5,"template":{"metadata":{"labels":{"app":"x"}}}}}`) }},
		{"a quantity that takes hours to decode", func(c *cluster) {
			c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"1e2147483647"}}}]}}}}`)
		}},
		{"a revision that cannot be read", func(c *cluster) { c.createRevision(`"x"`); c.SetImage("nginx:2") }},
		{"a revision of the highest number", func(c *cluster) { c.createRevision(`{"spec":{"template":{}}}`); c.SetImage("nginx:2") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(3, withParallel)
				c.ExpectSettled()
				c.ForgetRequests()
				before := p.Count()
				test.change(c)
				for range 10 {
					c.KubeletStep()
					c.Sleep("2s")
				}
				c.Sleep("2h")
				sent := 0
				for request, n := range c.Count(fixture.ControllerUser) {
					if !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "watch ") {
						sent += n
					}
				}
				if reconciles := p.Count() - before; reconciles > 200 || sent > 200 {
					t.Errorf("%d reconciles, requests %v", reconciles, c.Sent())
				}
				for _, err := range p.Errors() {
					if strings.Contains(err.Error(), "panic") {
						t.Fatal(err)
					}
				}
				if len(c.Pods()) < 2 {
					t.Errorf("pods %v, conditions %q", c.PodNames(), c.Conditions())
				}
			})
		})
	}
}

// annotate gives all pods an annotation.
func (c *cluster) annotate(key, value string) {
	c.T.Helper()
	for _, name := range c.PodNames() {
		c.PatchPod(name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
	}
}

// createRevision creates a revision without a controller with the highest number.
func (c *cluster) createRevision(data string) {
	c.T.Helper()
	_, err := c.Kube.AppsV1().ControllerRevisions(web.Namespace).Create(c.T.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-x", Labels: map[string]string{"app": "web"}},
		Data:       runtime.RawExtension{Raw: []byte(data)}, Revision: math.MaxInt64}, metav1.CreateOptions{})
	c.Must(err)
}
