// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// A copy that a user changes while it is replaced is neither deleted nor created. (RD-7, RD-8)
func TestReplacementOfWhatHasChanged(t *testing.T) {
	in(t, []string{"ns-1"}, func(t *testing.T, c *fixture.Cluster) {
		create(c, all)
		c.Sleep("5s")
		var deleted time.Time
		c.FailBefore(func(r fakecluster.Request) error {
			switch {
			case r.User != fixture.ControllerUser || r.DryRun:
			case r.String() == "delete secrets" && deleted.IsZero():
				deleted = time.Now()
				_, err := c.Kube.CoreV1().Secrets("ns-1").Patch(t.Context(), "pull", types.MergePatchType, []byte(`{"metadata":{"ownerReferences":null,"labels":null}}`), metav1.PatchOptions{})
				c.Must(err)
			case r.String() == "create secrets" && time.Now().Equal(deleted):
				t.Error("a copy is created at once, though the deletion of the one before was a conflict")
			}
			return nil
		})
		edit(c, `{"spec":{"resource":{"type":"example.com/other","data":{"key":"dHdv"}}}}`)
		c.Sleep("1m")
		if got := status(c); got != "0/1 ConflictOccurred [ns-1]" || deleted.IsZero() || !strings.HasPrefix(copies(c, "pull"), "ns-1 value of ") {
			t.Errorf("%s:\n%s", got, copies(c, "pull"))
		}
	})
}
