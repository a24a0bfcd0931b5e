// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

func annotated(key, value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Annotations = map[string]string{key: value} }
}

// A workload without an informer is read again every 10 s, however often its pods change.
func TestForeignWorkloads(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w := newWorld(c)
		defer func() { w.stop() }()
		w.play("machines 2", "owner shop.io/v1 Machine web", "workload apps/v1 replicasets ReplicaSet web-1 2 of=web", "pods a b", "budget 1 of=shop.io/v1/Machine/web")
		c.expect("PUB-23: known", "web", "2 of 2 available, 1 desired, 1 allowed; 2 linked")
		w.play("machines 5", "wait 10s")
		c.expect("PUB-23: scaled, within 10 s", "web", "2 of 5 available, 4 desired, 0 allowed; 2 linked")
		before, reads := w.reconciles.Count(), w.scales.asked
		for i := range 60 {
			c.PatchPod("a", fmt.Sprintf(`{"metadata":{"labels":{"i":"%d"}}}`, i))
			c.Sleep("1s")
		}
		if n := w.scales.asked - reads; n < 5 || n > 7 {
			t.Errorf("PUB-23: %d reads in a minute", n)
		}
		if n := w.reconciles.Count() - before; n > 70 {
			t.Errorf("%d reconciles in a minute", n)
		}
	})
}

// A targetRef that no cache reads fails, and is not taken for a workload that is gone. (PUB-23)
func TestNobodyReadsTheKind(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.createBudget(newBudget("web", "1", targeting("argoproj.io/v1alpha1", "Rollout", "web")))
		c.Sleep("1h")
		if errs := reconciles.Errors(); len(errs) == 0 || len(errs) > 40 || !strings.Contains(errs[0].Error(), "give Options.Scales") {
			t.Errorf("%d errors: %v", len(errs), errs)
		}
		if s := c.budget("web").Status; s.ObservedGeneration != 0 {
			t.Errorf("a status is written: %+v", s)
		}
	})
}

// The controller sends one patch for each pod and one write of the status for each change. While the first pods do not
// know their budget yet, the status allows none to go. A settled budget costs nothing, and what kubelets report costs
// nothing either.
func TestRequests(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(10)
		var names []string
		for i := range 10 {
			names = append(names, fmt.Sprint("web-", i))
		}
		c.webPods(names...)
		c.createBudget(newBudget("web", "10%"))
		reconciles, stop := c.start()
		defer stop()
		c.Sleep("1s")
		if diff := cmp.Diff([]string{"10 patch pods", "2 patch podunavailablebudgets/status"}, c.Sent()); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
		c.ForgetRequests()
		before := reconciles.Count()
		c.Heartbeats()
		c.Sleep("1h")
		if sent := c.Sent(); len(sent) > 0 || reconciles.Count() != before {
			t.Errorf("settled, and %v in %d reconciles", sent, reconciles.Count()-before)
		}
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		c.Sleep("1s")
		if diff := cmp.Diff([]string{"1 patch podunavailablebudgets/status"}, c.Sent()); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
	})
}

// A pod is judged as the API server judges it, the time it takes included.
func (c *cluster) livePod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// TestReconcileByHand runs a Reconciler without a loop.
func TestReconcileByHand(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		controller, err := New(c.options)
		c.Must(err)
		defer c.Start(controller.Run)()
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		for range 2 {
			if plan, err := controller.Plan(t.Context(), key); plan != nil || err != nil {
				t.Errorf("plan %v, error %v", plan, err)
			}
			if s, err := controller.Snapshot(t.Context(), key); s != nil || err != nil {
				t.Errorf("snapshot %v, error %v", s, err)
			}
			if after, err := controller.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("again after %v, error %v", after, err)
			}
		}
		c.cloneSet(1)
		c.createBudget(newBudget("web", "1"))
		c.webPods("a")
		c.Sleep("1s")
		if plan, err := controller.Plan(t.Context(), key); err != nil || plan.String() != "" || plan.Computed.CurrentAvailable != 1 {
			t.Errorf("plan %v, error %v", plan, err)
		}
		time.Sleep(time.Second)
	})
}
