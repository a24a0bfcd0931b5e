// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// Another generation looks again at what was in the way. (RD-10)
func TestConflictOfAnotherGeneration(t *testing.T) {
	in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
		foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: "pull"}}
		_, err := c.Kube.CoreV1().Secrets("ns-1").Create(t.Context(), foreign, metav1.CreateOptions{})
		c.Must(err)
		create(c, all)
		c.Sleep("2s")
		c.Must(c.Kube.CoreV1().Secrets("ns-1").Delete(t.Context(), "pull", metav1.DeleteOptions{}))
		c.Sleep("2s")
		if got := status(c); got != "1/2 ConflictOccurred [ns-1]" {
			t.Errorf("before: %s", got)
		}
		edit(c, `{"spec":{"resource":{"data":{"key":"dHdv"}}}}`)
		c.Sleep("5s")
		if got := status(c); got != "2/2" {
			t.Errorf("of another generation: %s", got)
		}
	})
}

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

// What is in the way is left alone for a while, whatever else is to be done meanwhile. (RD-10)
func TestConflictIsRemembered(t *testing.T) {
	in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
		foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: "pull"}}
		_, err := c.Kube.CoreV1().Secrets("ns-1").Create(t.Context(), foreign, metav1.CreateOptions{})
		c.Must(err)
		create(c, all)
		c.Sleep("2s")
		c.ForgetRequests()
		for range 2 { // a third time would be a contest (RD-21)
			c.Must(c.Kube.CoreV1().Secrets("ns-2").Delete(t.Context(), "pull", metav1.DeleteOptions{}))
			c.Sleep("5s")
		}
		for _, r := range c.Requests(fixture.ControllerUser) {
			if r.Namespace == "ns-1" {
				t.Errorf("%s in ns-1, a moment after the conflict", r.String())
			}
		}
		if got := status(c); got != "1/2 ConflictOccurred [ns-1]" {
			t.Error(got)
		}
	})
}
