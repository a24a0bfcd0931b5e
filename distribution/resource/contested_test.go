// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestContested has another writer change or delete a copy for an hour, whenever it is put back. It checks how often the
// controller writes the copy, what the condition says, and when that ends.
func TestContested(t *testing.T) {
	for _, test := range []struct {
		name, by string
		change   func(c *fixture.Cluster) error
	}{
		{"RD-21, CT-12: another writer changes it", `field manager "acme-operator"`, func(c *fixture.Cluster) error {
			secret, err := c.Kube.CoreV1().Secrets("ns-1").Get(c.T.Context(), "pull", metav1.GetOptions{})
			c.Must(err)
			now := metav1.Now()
			secret.Data = map[string][]byte{"key": []byte("theirs")}
			secret.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "ours", Operation: "Update", Time: &metav1.Time{Time: now.Add(-time.Hour)}}, {Manager: "acme-operator", Operation: "Update", Time: &now}}
			_, err = c.Kube.CoreV1().Secrets("ns-1").Update(c.T.Context(), secret, metav1.UpdateOptions{})
			return err
		}},
		{"RD-21, CT-12: another writer deletes it", "another writer", func(c *fixture.Cluster) error {
			return c.Kube.CoreV1().Secrets("ns-1").Delete(c.T.Context(), "pull", metav1.DeleteOptions{})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
				writes := 0
				c.FailAfter(func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && strings.HasSuffix(r.String(), "e secrets") && r.Namespace == "ns-1" {
						writes++
						time.AfterFunc(10*time.Millisecond, func() {
							if err := test.change(c); err != nil && !apierrors.IsConflict(err) {
								t.Error(err)
							}
						})
					}
					return nil
				})
				create(c, all)
				c.Sleep("40m")
				before := writes
				c.Sleep("20m")
				if writes > 30 || writes-before > 5 || writes == before {
					t.Errorf("%d writes in an hour, %d of them in its last 20 minutes", writes, writes-before)
				}
				conditions := fmt.Sprint(distributed(c, "pull").Status.Conditions)
				if status(c) != "1/2 UpdateResourceFailed [ns-1]" || !strings.Contains(conditions, test.by) {
					t.Errorf("status %s, which does not name %s: %s", status(c), test.by, conditions)
				}
				c.FailAfter(nil)
				c.Sleep("16m")
				if status(c) != "2/2" || strings.Contains(fmt.Sprint(copies(c, "pull")), "theirs") || len(copies(c, "pull")) != 2 {
					t.Errorf("when it is over: status %s, %s", status(c), copies(c, "pull"))
				}
			})
		})
	}
}
