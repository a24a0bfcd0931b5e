// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// FailedScale says what is refused now, and goes when nothing is refused any more. (CS-S2)
func TestFailureConditionsGo(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, "")
		for _, why := range []string{"the first policy", "the second policy"} {
			err := apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
			err.ErrStatus.Message = why
			c.FailBefore(fixture.Fail("create pods", err))
			c.MustFailReconcile(func(error) bool { return true })
			status := c.get().Status
			if failed := statuses.Find(&status, v1alpha1.CloneSetConditionFailedScale); failed == nil || !strings.HasSuffix(failed.Message, why) {
				t.Fatalf("%s: condition %+v", why, failed)
			}
		}
		c.FailBefore(nil)
		c.Settle()
		if status := c.get().Status; len(status.Conditions) > 0 || status.AvailableReplicas != 1 {
			t.Errorf("afterwards: %+v", status)
		}
	})
}
