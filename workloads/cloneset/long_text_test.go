// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestLongDenials: a policy engine lists all that it finds wrong, megabytes of it. Conditions and events stay short, whatever
// is refused.
func TestLongDenials(t *testing.T) {
	long := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New(strings.Repeat("violation; ", 200_000)))
	for _, request := range []string{"create pods", "create controllerrevisions"} {
		t.Run(request, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.FailBefore(fixture.Fail(request, long))
				c.create(3, "")
				_, stop := c.Run()
				defer stop()
				c.Sleep("10s")
				conditions, events := c.Conditions(), c.Events.All()
				if len(conditions) == 0 || !strings.Contains(strings.Join(conditions, "; "), "violation") {
					t.Errorf("conditions %.200q", conditions)
				}
				for _, text := range append(conditions, events...) {
					if len(text) > 5000 {
						t.Errorf("a text of %d bytes: %.200s", len(text), text)
					}
				}
			})
		})
	}
}
