// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// within fails the test if something takes longer than one user may have
// the controller of all others busy.
func within(t *testing.T, limit time.Duration, do func()) {
	t.Helper()
	start := time.Now()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * limit):
		t.Fatal("it is still busy")
	}
	if took := time.Since(start); took > limit {
		t.Errorf("it took %v", took)
	}
}

// TestExtremeSpecs plans what no webhook has seen: nothing panics, and nothing
// takes long.
func TestExtremeSpecs(t *testing.T) {
	const most = math.MaxInt32
	many := make([]intstr.IntOrString, 100_000)
	for i := range many {
		many[i] = intstr.FromInt32(int32(i))
	}
	for _, test := range []struct {
		name string
		edit edit
		want string // what the plan does
	}{
		{"reserved ordinals beyond an int32", reserve(most, "5-9223372036854775807"), ""},
		{"negative reserved ordinals", reserve(-1, math.MinInt32), ""},
		{"all ordinals reserved", reserve("0-9223372036854775807"), ""},
		{"many reserved ordinals", func(s *Snapshot) { s.Set.Spec.ReserveOrdinalRanges = many },
			"delete 1 Scale, delete 0 Scale, create 100000A, create 100001A"},
		{"all replicas that are allowed", replicas(mostReplicas), ""},
		{"all int32s as replicas", replicas(most), ""},
		{"a partition of all int32s", partition(most), ""},
		{"the least partition", partition(-most - 1), ""},
		{"minReadySeconds of all int32s", minReady(most), ""},
		{"negative minReadySeconds", minReady(-most - 1), ""},
		{"maxUnavailable of more than all", unavailable("9999999999%"), ""},
		{"negative maxUnavailable", unavailable("-100%"), ""},
		{"scaleStrategy.maxUnavailable of more than all", scaleUnavailable("2147483647%"), ""},
		{"no strategy, no policy, no name of a service", func(s *Snapshot) {
			s.Set.Spec.UpdateStrategy.RollingUpdate, s.Set.Spec.PodManagementPolicy, s.Set.Spec.ServiceName = nil, "", ""
		}, ""},
		{"an unknown policy and strategy", func(s *Snapshot) {
			s.Set.Spec.UpdateStrategy.Type, s.Set.Spec.PodManagementPolicy = "x", "y"
			s.Set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = "z"
		}, ""},
		{"a selector that selects nothing", func(s *Snapshot) {
			s.Set.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "x"}}}
		}, ""},
		{"a history of less than nothing", func(s *Snapshot) { s.Set.Spec.RevisionHistoryLimit = new(int32(-5)) }, ""},
		{"no revisions", func(s *Snapshot) { s.Revisions = nil }, ""},
		{"no claims where there are templates of no name", func(s *Snapshot) {
			s.Set.Spec.VolumeClaimTemplates = append(s.Set.Spec.VolumeClaimTemplates, s.Set.Spec.VolumeClaimTemplates...)
			claims()(s)
			s.Set.Spec.VolumeClaimTemplates[0].Name, s.Claims = "", nil
		}, ""},
		{"pods without anything", func(s *Snapshot) { s.Pods[0].Labels, s.Pods[0].Annotations = nil, nil; s.Pods[0].Spec.Containers = nil }, "Release 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := testSnapshot(t, "A", "A", "0A 1A", test.edit)
			within(t, 3*time.Second, func() {
				plan := NewPlan(s)
				if len(plan.Create) > 100 {
					return
				}
				if got := summary(s, plan); got != test.want {
					t.Errorf("plan %q, want %q; %s", got, test.want, problems(plan))
				}
			})
		})
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
