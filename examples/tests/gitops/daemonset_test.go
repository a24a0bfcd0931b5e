// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// fleet is a DaemonSet, and a cluster of three nodes in which its pods run.
type fleet struct {
	daemonset.Snapshot
	broken string // an image that does not start
}

func nodes(n int) (all []*corev1.Node) {
	for i := range n {
		all = append(all, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i)}})
	}
	return all
}

func newFleet() *fleet {
	r := &fleet{Snapshot: daemonset.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Features: daemonset.Features{AssignDirectly: true}, Nodes: nodes(3), Set: &v1alpha1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: "default", UID: "1", Generation: 1},
		Spec: v1alpha1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "agent"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "agent"}}},
		}}}}
	r.Set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "agent:1"}}
	return r
}

func (r *fleet) defaulted() *fleet {
	daemonset.Default(r.Set)
	return r
}

// edit is what a user does.
func (r *fleet) edit(change func(*v1alpha1.DaemonSetSpec)) {
	change(&r.Set.Spec)
	r.Set.Generation++
}

// reconcile plans once, and does what the plan says.
func (r *fleet) reconcile() {
	plan := daemonset.NewPlan(&r.Snapshot)
	if plan.Status != nil {
		r.Set.Status = *plan.Status
	}
	apply(&plan.Plan, &r.Pods, &r.Revisions, r.Now, r.broken)
}

// settle reconciles until nothing changes any more.
func (r *fleet) settle() {
	for range 20 {
		r.reconcile()
	}
}

// A DaemonSet is shown as healthy when all of its pods are updated and available, and never when they are not. kstatus has consumers wait
// until then, but not for those that the partition holds back.
func TestDaemonSet(t *testing.T) {
	r := newFleet().defaulted()
	s := &story{T: t, kind: "DaemonSet", object: func() any { return r.Set }, status: func() rollout.Status { return daemonset.RolloutStatus(r.Set) }}
	image := func(name string) {
		r.edit(func(s *v1alpha1.DaemonSetSpec) { s.Template.Spec.Containers[0].Image = name })
	}
	partition := func(n int32) {
		r.edit(func(s *v1alpha1.DaemonSetSpec) { s.UpdateStrategy.RollingUpdate.Partition = new(intstr.FromInt32(n)) })
	}
	r.broken = "agent:1"
	r.settle()
	s.show("no pod starts")
	r.Pods, r.broken = nil, ""
	r.settle()
	s.show("all pods run")
	image("agent:2")
	s.show("another image, not yet observed")
	r.reconcile()
	s.show("another image, observed")
	for range 20 {
		r.reconcile()
		s.never(updatedAndAvailable(r.Pods, &r.Set.Spec.Template, 3))
	}
	s.show("all pods run it")
	partition(2)
	image("agent:3")
	r.reconcile()
	s.show("a canary starts")
	r.settle()
	s.show("a canary runs, and two pods are held back")
	partition(0)
	r.settle()
	s.show("the partition is 0 again")
	r.broken = "agent:4"
	image("agent:4")
	r.settle()
	s.show("an image that does not start")
	image("agent:3")
	r.settle()
	s.show("back")
	r.edit(func(s *v1alpha1.DaemonSetSpec) {
		s.UpdateStrategy.RollingUpdate.Paused = new(true)
	})
	r.reconcile()
	s.show("paused")
	image("agent:5")
	r.reconcile()
	s.show("paused, and another image")
	image("agent:3")
	r.edit(func(s *v1alpha1.DaemonSetSpec) {
		s.UpdateStrategy.RollingUpdate.Paused, s.Template.Spec.NodeSelector = new(false), map[string]string{"no": "node"}
		s.UpdateStrategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(3))
	})
	r.settle()
	s.show("no pods are wanted")
	s.expect(
		reading{"no pod starts", "Degraded", "InProgress", rollout.InProgress},
		reading{"all pods run", "Healthy", "Current", rollout.Complete},
		reading{"another image, not yet observed", "Progressing", "InProgress", rollout.Unobserved},
		reading{"another image, observed", "Progressing", "InProgress", rollout.InProgress},
		reading{"all pods run it", "Healthy", "Current", rollout.Complete},
		reading{"a canary starts", "Progressing", "InProgress", rollout.InProgress},
		reading{"a canary runs, and two pods are held back", "Progressing", "Current", rollout.Complete},
		reading{"the partition is 0 again", "Healthy", "Current", rollout.Complete},
		reading{"an image that does not start", "Progressing", "InProgress", rollout.InProgress},
		reading{"back", "Healthy", "Current", rollout.Complete},
		reading{"paused", "Suspended", "Current", rollout.Complete},
		reading{"paused, and another image", "Suspended", "InProgress", rollout.InProgress},
		reading{"no pods are wanted", "Healthy", "Current", rollout.Complete},
	)
}
