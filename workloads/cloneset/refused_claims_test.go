// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// CS-39: a quota lets some pods be created or none, for an hour. No more claims are made than pods are wanted: each is a volume.
// Then the pods come, with these claims. A text that varies tells of another port or request each time.
func TestClaimsOfRefusedPods(t *testing.T) {
	const replicas = 5
	for _, quota := range []int{0, 2} {
		for _, text := range []string{"exceeded quota", "exceeded quota, request %d", "exceeded quota by %c"} {
			t.Run(fmt.Sprintf("quota %d, %s", quota, text), func(t *testing.T) {
				inCluster(t, func(t *testing.T, c *cluster) {
					_, stop := c.Run()
					defer stop()
					n, allowed := 0, 0
					c.FailBefore(func(r fakecluster.Request) error {
						if strings.TrimSpace(r.String()) != "create pods" {
							return nil
						}
						if allowed < quota {
							allowed++
							return nil
						}
						n++
						said := text
						if strings.Contains(text, "%") {
							said = fmt.Sprintf(text, 'a'+n)
						}
						return apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("%s", said))
					})
					c.create(replicas, `{"spec":{"scaleStrategy":{"disablePVCReuse":true},"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
					for range 12 {
						c.KubeletStep()
						c.Sleep("5m")
					}
					sent := c.Count(fixture.ControllerUser)
					if sent["create persistentvolumeclaims"] > replicas || sent["delete persistentvolumeclaims"] > 0 {
						t.Errorf("in an hour %v", c.Sent())
					}
					if sent["create pods"] < 10 {
						t.Errorf("creations are tried %d times", sent["create pods"])
					}
					c.FailBefore(nil)
					c.Sleep(time.Hour.String())
					c.ExpectSettled()
					if sent := c.Count(fixture.ControllerUser); len(c.Pods()) != replicas || sent["create persistentvolumeclaims"] > replicas {
						t.Errorf("%d pods, and %d claims were made", len(c.Pods()), sent["create persistentvolumeclaims"])
					}
				})
			})
		}
	}
}
