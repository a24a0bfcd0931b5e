// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// storeImage has a policy store an image of its own in every write of a pod that is there already.
func (c *cluster) storeImage(of func(image string) string) {
	c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
		if r.Resource != "pods" || r.Subresource != "" || r.Verb == "create" {
			return
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
		for _, each := range containers {
			c := each.(map[string]any)
			c["image"] = of(c["image"].(string))
		}
		_ = unstructured.SetNestedSlice(object.Object, containers, "spec", "containers")
	})
}

// IP-40: a policy puts the image from before back. The pods serve and do not count as updated, a condition says what came back,
// and tries become rare. The update goes on when the policy is gone.
func TestImageIsPutBack(t *testing.T) {
	for _, kind := range []string{"InPlaceIfPossible", "InPlaceOnly"} {
		t.Run(kind, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, `{"spec":{"updateStrategy":{"type":"`+kind+`","maxUnavailable":1}}}`)
				_, stop := c.start()
				defer stop()
				c.Minute()
				before := uids(c.Pods())
				c.storeImage(func(string) string { return "nginx:1" })
				c.ForgetRequests()
				c.SetImage("nginx:2")
				for range 60 {
					c.Minute()
				}
				if n := c.Count("controller")["patch pods"]; n > 40 {
					t.Errorf("%d tries in an hour", n)
				}
				status, said := c.get().Status, strings.Join(c.Conditions(), "; ")
				if status.UpdatedReplicas != 0 || status.AvailableReplicas != 3 || status.CurrentRevision == status.UpdateRevision || !inService(c.Pods()) {
					t.Errorf("status %+v, in service %t", status, inService(c.Pods()))
				}
				if !strings.Contains(said, "FailedUpdate") || !strings.Contains(said, "image nginx:1 came back") {
					t.Errorf("conditions %q", said)
				}
				c.storeImage(func(image string) string { return image })
				for range 10 {
					c.Minute()
				}
				if status := c.get().Status; status.UpdatedAvailableReplicas != 3 || len(c.Conditions()) > 0 || len(c.waits()) > 0 || !slices.Equal(before, uids(c.Pods())) {
					t.Errorf("afterwards: status %+v, conditions %q, waits %v", status, c.Conditions(), c.waits())
				}
			})
		})
	}
}

// IP-40: an image that is neither the one asked for nor the one from before, of a mirror for example, is what the pods get.
func TestImageIsRewritten(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible"}}}`)
		c.Settle()
		before := uids(c.Pods())
		c.storeImage(func(image string) string { return "mirror/" + strings.TrimPrefix(image, "mirror/") })
		for _, image := range []string{"nginx:2", "nginx:3"} {
			c.SetImage(image)
			c.Settle()
			if status := c.get().Status; status.UpdatedAvailableReplicas != 3 || len(c.Conditions()) > 0 || c.Pods()[0].Spec.Containers[0].Image != "mirror/"+image || !slices.Equal(before, uids(c.Pods())) {
				t.Errorf("%s: status %+v, image %s, conditions %v", image, status, c.Pods()[0].Spec.Containers[0].Image, c.Conditions())
			}
		}
	})
}
