// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// IP-39: if the API server does not know resizes, or finds one invalid, pods are recreated, a few at a time, and soon.
func TestResizeNotServed(t *testing.T) {
	for name, refusal := range map[string]error{
		"no subresource":        apierrors.NewGenericServerResponse(404, "patch", schema.GroupResource{Resource: "pods"}, "", "the server could not find the requested resource", 0, true),
		"the node is too small": tooSmall(),
		"invalid":               apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil),
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.resizable(gives)
				c.create(6, sizedPods)
				c.Settle()
				c.FailBefore(failResizes(refusal))
				c.setCPU("2", "")
				for range 60 {
					_, _, _ = c.ReconcileOnce()
					if status := c.get().Status; status.AvailableReplicas < 4 {
						t.Fatalf("status %+v", status)
					}
					c.KubeletStep()
					c.Sleep("1s")
				}
				if status := c.get().Status; status.UpdatedAvailableReplicas != 6 || len(status.Conditions) > 0 {
					t.Errorf("after a minute: status %+v", status)
				}
			})
		})
	}
}

// tooSmall is how an API server forbids a resize that the node of the pod can never do.
func tooSmall() error {
	err := apierrors.NewForbidden(corev1.Resource("pods"), "x", errors.New("node didn't have enough allocatable resources"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NodeCapacity"}}
	return err
}

// IP-39: if it is forbidden, pods wait, serve, and are asked about less and less.
func TestResizeForbidden(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.resizable(gives)
		c.create(6, sizedPods)
		c.Settle()
		before := uids(c.Pods())
		tried := 0
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "patch pods/resize" {
				tried++
				return fixture.ErrQuota
			}
			return nil
		})
		c.setCPU("2", "")
		for range 1200 {
			requests, after, err := c.ReconcileOnce()
			if len(requests) == 0 && after == 0 && err == nil {
				t.Fatal("nothing brings the next attempt")
			}
			c.Sleep("1s")
		}
		status := c.get().Status
		if tried > 60 || status.AvailableReplicas != 6 || len(status.Conditions) != 2 || !strings.Contains(status.Conditions[0].Message, "quota") || status.Conditions[1].Type != v1alpha1.CloneSetConditionReconciling {
			t.Errorf("tried %d times, status %+v", tried, status)
		}
		c.FailBefore(nil)
		c.Sleep("5m")
		c.Settle()
		if status := c.get().Status; status.UpdatedAvailableReplicas != 6 || len(status.Conditions) > 0 || !slices.Equal(before, uids(c.Pods())) {
			t.Errorf("status %+v", status)
		}
	})
}

func failResizes(with error) func(fakecluster.Request) error {
	return func(r fakecluster.Request) error {
		if r.String() == "patch pods/resize" {
			return with
		}
		return nil
	}
}
