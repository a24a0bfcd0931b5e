// SPDX-License-Identifier: Apache-2.0

package image

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// A deletion is of the object that was read, and not of another one that has taken its name. Of the copy of a secret it is of the
// version that was read: another job may need it by now. (IMG-1.5, IMG-1.6)
func TestDeletionsAreOfWhatWasRead(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		asked := map[string]*metav1.Preconditions{}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.Verb == "delete" && (r.User == jobUser || r.User == nodeUser) {
				var options metav1.DeleteOptions
				if err := json.Unmarshal(r.Body, &options); err != nil || options.Preconditions == nil {
					t.Errorf("%s %s: error %v, preconditions %v", r.String(), r.Name, err, options.Preconditions)
					return nil
				}
				asked[r.Resource] = options.Preconditions
			}
			return nil
		})
		c.begin(2)
		c.addSecret("s", "one")
		job := c.addJob("a", "pullSecrets: [s]\ncompletionPolicy: {ttlSecondsAfterFinished: 5}")
		copied, err := c.kube.CoreV1().Secrets("kruise-daemon-config").Get(t.Context(), copyName("s"), metav1.GetOptions{})
		c.Must(err)
		image := c.nodeImage("n0001")
		for range 2 {
			c.agents(always(succeeded))
			c.Sleep(time.Second)
		}
		c.Must(c.kube.CoreV1().Nodes().Delete(t.Context(), "n0001", metav1.DeleteOptions{}))
		c.Sleep(time.Minute)
		for resource, want := range map[string]metav1.Object{"imagepulljobs": job, "nodeimages": image, "secrets": copied} {
			p := asked[resource]
			if p == nil || p.UID == nil || *p.UID != want.GetUID() {
				t.Errorf("%s: deleted by %v, want the UID %s", resource, p, want.GetUID())
			}
		}
		if p := asked["secrets"]; p == nil || p.ResourceVersion == nil {
			t.Errorf("secrets: deleted by %v, want a version", p)
		}
	})
}
