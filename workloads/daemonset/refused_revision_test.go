// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestRefusedRevision has a quota refuse the revision of a new template. Pods that are lost come back as they were, a new node
// gets the current revision, and nothing is updated. (CT-9)
func TestRefusedRevision(t *testing.T) {
	for name, patch := range map[string]string{"CT-9: RollingUpdate": "", "CT-9: OnDelete": `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.addNodes(nodeNames(3)...)
				c.Create(testSet("web"), patch)
				_, stop := c.start()
				defer stop()
				c.Minute()
				c.FailBefore(fixture.Fail("create controllerrevisions", apierrors.NewForbidden(corev1.Resource("controllerrevisions"), "", errors.New("exceeded quota"))))
				before := c.get().Generation
				c.SetImage("nginx:2")
				c.DeletePod(c.PodNames()[1])
				c.addNodes("n4")
				c.Minute()
				c.Sleep("1h")
				pods, status := c.Pods(), c.get().Status
				for _, pod := range pods {
					if image := pod.Spec.Containers[0].Image; image != "nginx:1" {
						t.Errorf("pod %s runs %s", pod.Name, image)
					}
				}
				if len(pods) != 4 || status.ObservedGeneration != before || len(c.Conditions()) == 0 {
					t.Errorf("an hour later %d pods, status %+v, conditions %v", len(pods), status, c.Conditions())
				}
			})
		})
	}
}
