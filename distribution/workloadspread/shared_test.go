// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// WS-7.2: if another replica was faster, it is decided by what the workload wants now. Half of the pods go to a.
func TestPlaceAfterConflict(t *testing.T) {
	for _, test := range []struct {
		name      string
		meanwhile func(*cluster)
		want      string
	}{
		{"nothing else happens", func(*cluster) {}, "a"},
		{"it is scaled out", func(c *cluster) { c.scale("web", 8) }, "a"},
		{"it is scaled in", func(c *cluster) { c.scale("web", 2) }, "c"},
		{"it is deleted", func(c *cluster) {
			c.Must(c.Kube.AppsV1().Deployments("default").Delete(c.T.Context(), "web", metav1.DeleteOptions{}))
		}, "c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.deployment("web", 4)
				owner := c.replicaSet("web", 1, 8)
				c.createSpread("web", "subsets: [{name: a, maxReplicas: 50%}, {name: c}]")
				p := c.placer()
				if got := c.admit(p, generated(owner)); got != "a" {
					t.Fatalf("the first pod goes to %q", got)
				}
				conflicts := 0
				c.FailBefore(func(r fakecluster.Request) error {
					if r.User != fixture.ControllerUser || r.String() != "patch workloadspreads/status" || conflicts > 0 {
						return nil
					}
					conflicts++
					test.meanwhile(c)
					c.Sleep("1s")
					return apierrors.NewConflict(schema.GroupResource{Resource: "workloadspreads"}, "web", errors.New("injected"))
				})
				if got := c.admit(p, generated(owner)); got != test.want || conflicts != 1 {
					t.Errorf("the second pod goes to %q after %d conflicts, want %q", got, conflicts, test.want)
				}
			})
		})
	}
}
