// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A NodePodProbe stays while its node lives, whatever the cache of nodes shows, and goes with it. Another one that has taken
// its name would stay: the deletion names the UID. (PPM-3.1)
func TestNodePodProbeOfALiveNode(t *testing.T) {
	play(t, func(c *cluster) {
		var asked *metav1.Preconditions
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == nodeUser && r.String() == "delete nodepodprobes" {
				var options metav1.DeleteOptions
				if err := json.Unmarshal(r.Body, &options); err != nil {
					t.Error(err)
				}
				asked = options.Preconditions
			}
			return nil
		})
		c.Hold("nodes")
		_, err := c.kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
		c.Must(err)
		probes, err := c.probes.Create(t.Context(), &v1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
		c.Must(err)
		c.Sleep(time.Minute)
		if found, err := c.probes.Get(t.Context(), "late", metav1.GetOptions{}); err != nil || found.UID != probes.UID || asked != nil {
			t.Errorf("while the node lives: error %v, %v, deleted by %v", err, found, asked)
		}
		c.Release("nodes")
		c.Sleep(time.Minute)
		c.Must(c.kube.CoreV1().Nodes().Delete(t.Context(), "late", metav1.DeleteOptions{}))
		c.Sleep(time.Minute)
		if found, err := c.probes.Get(t.Context(), "late", metav1.GetOptions{}); err == nil || asked == nil || asked.UID == nil || *asked.UID != probes.UID {
			t.Errorf("when it is gone: %v, deleted by %v", found, asked)
		}
	})
}
