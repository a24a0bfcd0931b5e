// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// placement sends pods to a zone, or cannot tell to which.
type placement struct{ unknown atomic.Bool }

func (p *placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if p.unknown.Load() {
		return nil, errors.New("nobody knows")
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeSelector = map[string]string{"zone": "a"}
	return pod, nil
}

// WS-25: a Placement says on which node a pod is created. If its place is not known, nothing is sent, and an error says so. The
// pod is created when its place is known. A pod that is placed has the same revision, and is settled.
func TestPlacement(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		p := &placement{}
		p.unknown.Store(true)
		c.Options.Placement = p
		c.Restart()
		c.create(3, "")
		requests, _, err := c.ReconcileOnce()
		if err == nil || !strings.Contains(err.Error(), "find its place: nobody knows") {
			t.Errorf("error %v", err)
		}
		if slices.ContainsFunc(requests, func(r string) bool { return strings.HasSuffix(r, "create pods") }) {
			t.Errorf("requests %v for pods whose place is not known", requests)
		}
		p.unknown.Store(false)
		c.Settle()
		for _, pod := range c.Pods() {
			if pod.Spec.NodeSelector["zone"] != "a" {
				t.Errorf("pod %s is placed by %v", pod.Name, pod.Spec.NodeSelector)
			}
		}
		if n := len(c.Pods()); n != 3 {
			t.Errorf("%d pods, want 3", n)
		}
		c.ExpectSettled()
	})
}
