// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestRefusedRevision has a quota refuse the revision of a new template: pods that are lost come back as they were, and nothing is updated. (CT-9)
func TestRefusedRevision(t *testing.T) {
	for name, patch := range map[string]string{"CT-9: in order": "", "CT-9: Parallel": withParallel,
		"CT-9: OnDelete": `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, patch)
				_, stop := c.start()
				defer stop()
				c.Minute()
				c.FailBefore(fixture.Fail("create controllerrevisions", apierrors.NewForbidden(corev1.Resource("controllerrevisions"), "", errors.New("exceeded quota"))))
				before := c.get().Generation
				c.SetImage("nginx:2")
				c.DeletePod("web-0")
				c.DeletePod("web-2")
				c.Minute()
				c.Sleep("1h")
				pods, status := c.Pods(), c.get().Status
				for _, pod := range pods {
					if image := pod.Spec.Containers[0].Image; image != "nginx:1" {
						t.Errorf("pod %s runs %s", pod.Name, image)
					}
				}
				if len(pods) != 3 || status.ReadyReplicas != 3 || status.ObservedGeneration != before || len(c.Conditions()) == 0 {
					t.Errorf("an hour later %d pods, status %+v, conditions %v", len(pods), status, c.Conditions())
				}
			})
		})
	}
}
