// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A status that another client overwrites is put right at once; the controller's
// writing it enqueues nothing.
func TestStatusOverwritten(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		p, stop := c.start()
		defer stop()
		c.create(3, "")
		c.ExpectSettled()
		before := p.Count()
		const wrong = `{"status":{"readyReplicas":7,"updateRevision":"made-up"}}`
		if _, err := c.sets.Patch(t.Context(), web.Name, types.MergePatchType, []byte(wrong), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		c.ExpectSettled()
		if status := c.get().Status; status.ReadyReplicas != 3 || status.UpdateRevision == "made-up" {
			t.Errorf("the status is still wrong: %+v", status)
		}
		if reconciles := p.Count() - before; reconciles == 0 || reconciles > 3 {
			t.Errorf("%d reconciles to put one status right", reconciles)
		}
	})
}

// Of the updated pods those are available that have been ready for minReadySeconds, and none that is at the revision before.
func TestUpdatedAvailableReplicas(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3")
	w.settle()
	w.Spec("image=nginx:2", "maxUnavailable=100%", "minReadySeconds=60")
	for range 3 { // revisions, new pods, and what is left
		w.Reconcile(&strings.Builder{})
		w.Kubelets()
	}
	status := func() [4]int32 {
		w.Reconcile(&strings.Builder{})
		s := w.set.Status
		return [4]int32{s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas}
	}
	if got := status(); got != [4]int32{0, 3, 3, 0} {
		t.Errorf("available, updated, updated and ready, updated and available: %v", got)
	}
	w.Now = w.Now.Add(time.Minute)
	if got := status(); got != [4]int32{3, 3, 3, 3} {
		t.Errorf("a minute later: %v", got)
	}
}
