// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

func pod(namespace, name string, owner types.UID) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{UID: "x"}, {UID: owner}}}}
}

// newPlanner is a planner of an empty plan.
func newPlanner() (*rollout.Plan, Planner) {
	plan := &rollout.Plan{}
	return plan, NewPlanner(plan, "Failed")
}

func TestUsable(t *testing.T) {
	own := pod("shop", "own", "1")
	for _, test := range []struct {
		name string
		pods []*corev1.Pod
		left int
		want string
	}{
		{"none", nil, 0, ""},
		{"all belong", []*corev1.Pod{own, own}, 2, ""},
		{"a nil one", []*corev1.Pod{nil, own}, 1, "Failed: Pods: nil left out; want objects of namespace shop that are owned"},
		{"of another namespace", []*corev1.Pod{own, pod("x", "a", "1")}, 1, "Failed: Pods: x/a left out; want objects of namespace shop that are owned"},
		{"many of others", []*corev1.Pod{pod("shop", "c", "2"), own, pod("shop", "b", "2"), pod("shop", "d", "2"), pod("shop", "a", "2")}, 1,
			"Failed: Pods: shop/a, shop/b, shop/c, and 1 more left out; want objects of namespace shop that are owned"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(test.pods)
			plan, p := newPlanner()
			p.Workload.Object = pod("shop", "web", "")
			got := Usable(&p, test.pods, "Pods", "that are owned", func(p *corev1.Pod) bool { return OwnedBy(p, "1") })
			message := ""
			for _, problem := range plan.Problems {
				message += problem.Condition + ": " + problem.Err.Error()
			}
			if len(got) != test.left || message != test.want || len(test.pods) != before {
				t.Errorf("%d are left, error %q; want %d, %q", len(got), message, test.left, test.want)
			}
		})
	}
}
