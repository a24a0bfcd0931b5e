// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// images are those that the active pods run, sorted.
func (c *cluster) images() (images []string) {
	for _, pod := range c.Pods() {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			images = append(images, pod.Spec.Containers[0].Image)
		}
	}
	slices.Sort(images)
	return images
}

// TestRefusedRevision has a quota refuse the revision of a new template. Pods that are lost come back as they were, replicas
// follow the spec, nothing is updated, and the condition says why. (CT-9)
func TestRefusedRevision(t *testing.T) {
	for _, test := range []struct{ name, refused, patch, edit string }{
		{"CT-9: a new template", "create controllerrevisions", "", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`},
		{"CT-9: with a surge", "create controllerrevisions", `{"spec":{"updateStrategy":{"maxSurge":2}}}`,
			`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(6, test.patch)
				_, stop := c.start()
				defer stop()
				c.Minute()
				c.FailBefore(fixture.Fail(test.refused, apierrors.NewForbidden(corev1.Resource("controllerrevisions"), "", errors.New("exceeded quota"))))
				generation := c.get().Generation
				c.Edit(test.edit)
				for _, name := range c.PodNames()[:4] {
					c.DeletePod(name)
				}
				c.Minute()
				c.Sleep("1h")
				if diff := slices.Compact(c.images()); len(c.images()) != 6 || len(diff) != 1 || diff[0] != "nginx:1" {
					t.Errorf("an hour later: %v", c.images())
				}
				status := c.get().Status
				if status.ObservedGeneration != generation || status.Replicas != 6 || status.AvailableReplicas != 6 {
					t.Errorf("generation %d was there before, status %+v", generation, status)
				}
				if found := c.Conditions(); !slices.ContainsFunc(found, func(s string) bool {
					return strings.Contains(s, "FailedUpdate") && strings.Contains(s, "ControllerRevision") && strings.Contains(s, "exceeded quota")
				}) {
					t.Errorf("conditions %v", found)
				}
				c.Edit(`{"spec":{"replicas":3}}`)
				c.Minute()
				if len(c.images()) != 3 {
					t.Errorf("scaled to 3: %v", c.images())
				}
				c.ForgetRequests()
				c.Sleep("1h")
				if n := c.Count(fixture.ControllerUser)[test.refused]; n == 0 || n > 30 {
					t.Errorf("the revision was asked for %d times in an hour", n)
				}
				c.FailBefore(nil)
				c.Sleep("20m") // the longest back-off
				for range 5 {
					c.Minute()
				}
				if images := slices.Compact(c.images()); len(images) != 1 || images[0] == "nginx:1" || len(c.Conditions()) > 0 {
					t.Errorf("when the quota is larger: %v, %v", c.images(), c.Conditions())
				}
			})
		})
	}
}
