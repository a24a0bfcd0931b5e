// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A status that somebody else overwrites is put right at once; the controller's
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
