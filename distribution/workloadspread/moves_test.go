// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// WS-36: of 24 pods that no node takes, ten are deleted in 5 s. Those that cannot be deleted do not hold back the others.
func TestMovesAtOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		stays := []string{"p00", "p01", "p11"}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "delete pods" && slices.Contains(stays, r.Name) {
				return apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("injected"))
			}
			return nil
		})
		c.deployment("web", 24)
		rs := c.replicaSet("web", 1, 24)
		for i := range 24 {
			name := fmt.Sprintf("p%02d", i)
			c.CreatePod(newPod(name, "a", rs))
			c.stuck(name)
		}
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 24}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}")
		reconciles, stop := c.start()
		defer stop()
		c.Sleep("31s")
		var left []int
		for range 14 {
			left = append(left, len(c.Pods()))
			time.Sleep(time.Second)
		}
		if want := []int{14, 14, 14, 14, 14, 4, 4, 4, 4, 4, 3, 3, 3, 3}; !slices.Equal(left, want) {
			t.Errorf("so many pods are left, second by second: %v, want %v", left, want)
		}
		if len(reconciles.Errors()) == 0 {
			t.Error("no error tells what cannot be deleted")
		}
		var names []string
		for _, pod := range c.Pods() {
			names = append(names, pod.Name)
		}
		if slices.Sort(names); !slices.Equal(names, stays) {
			t.Errorf("pods %v are left, want %v", names, stays)
		}
	})
}
