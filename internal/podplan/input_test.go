// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

func pod(namespace, name string, owner types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{UID: "x"}, {UID: owner}}}}
}

// newPlanner is a planner of an empty plan.
func newPlanner() (*rollout.Plan, Planner) {
	plan := &rollout.Plan{}
	return plan, NewPlanner(plan, "Failed")
}

// TestUsable shows which pods are left of those that a snapshot has, as namespace/name/owner, and what is said of the others.
func TestUsable(t *testing.T) {
	patches.PlayRows(t, "testdata/usable.txt", nil, func(_ *testing.T, _ string, r *struct{ Pods []string }) string {
		plan, p := newPlanner()
		p.Workload.Object = pod("shop", "web", "")
		var pods []*corev1.Pod
		for _, words := range r.Pods {
			if words == "nil" {
				pods = append(pods, nil)
				continue
			}
			of := strings.Split(words, "/")
			pods = append(pods, pod(of[0], of[1], types.UID(of[2])))
		}
		left := Usable(&p, slices.Clip(pods), "Pods", "that are owned", func(p *corev1.Pod) bool { return OwnedBy(p, "1") })
		return fmt.Sprintln(len(left), "left of", len(pods), plan.Problems)
	})
}
