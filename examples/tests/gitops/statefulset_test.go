// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// orderly is a StatefulSet whose pods are recreated, and a cluster in which they run.
type orderly struct {
	statefulset.Snapshot
	broken string // an image that does not start
}

func newOrderly() *orderly {
	r := &orderly{Snapshot: statefulset.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Set: &v1beta1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default", UID: "1", Generation: 1},
		Spec: v1beta1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "db"}}},
		}}}}
	r.Set.Spec.Replicas = new(int32(3))
	r.Set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "db:1"}}
	return r
}

func (r *orderly) defaulted() *orderly {
	statefulset.Default(r.Set, nil, statefulset.DefaultOptions{})
	return r
}

// edit is what a user does.
func (r *orderly) edit(change func(*v1beta1.StatefulSetSpec)) {
	change(&r.Set.Spec)
	r.Set.Generation++
}

// reconcile plans once, and does what the plan says.
func (r *orderly) reconcile() {
	plan := statefulset.NewPlan(&r.Snapshot)
	if plan.Status != nil {
		r.Set.Status = *plan.Status
	}
	apply(&plan.Plan, &r.Pods, &r.Revisions, r.Now, r.broken)
}

// settle reconciles until nothing changes any more.
func (r *orderly) settle() {
	for range 20 {
		r.reconcile()
	}
}

// A StatefulSet is shown as healthy when all of its pods are updated and available, and never when they are not. kstatus has consumers wait
// until then, but not for those that the partition holds back.
func TestStatefulSet(t *testing.T) {
	r := newOrderly().defaulted()
	s := &story{T: t, kind: "StatefulSet", object: func() any { return r.Set }, status: func() rollout.Status { return statefulset.RolloutStatus(r.Set) }}
	image := func(name string) {
		r.edit(func(s *v1beta1.StatefulSetSpec) { s.Template.Spec.Containers[0].Image = name })
	}
	partition := func(n int32) {
		r.edit(func(s *v1beta1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate.Partition = &n })
	}
	r.broken = "db:1"
	r.settle()
	s.show("the first pod does not start")
	r.Pods, r.broken = nil, ""
	r.reconcile()
	r.reconcile()
	s.show("the first pod runs, and the next is not seen yet")
	r.settle()
	s.show("all pods run")
	image("db:2")
	s.show("another image, not yet observed")
	r.reconcile()
	s.show("another image, observed")
	for range 20 {
		r.reconcile()
		s.never(updatedAndAvailable(r.Pods, &r.Set.Spec.Template, 3))
	}
	s.show("all pods run it")
	partition(2)
	image("db:3")
	r.reconcile()
	s.show("a canary starts")
	r.settle()
	s.show("a canary runs, and two pods are held back")
	partition(1)
	r.settle()
	s.show("two canaries run, and one pod is held back")
	partition(0)
	r.settle()
	s.show("the partition is 0 again")
	r.broken = "db:4"
	image("db:4")
	r.settle()
	s.show("an image that does not start")
	image("db:3")
	r.settle()
	s.show("back")
	r.edit(func(s *v1beta1.StatefulSetSpec) { s.UpdateStrategy.RollingUpdate.Paused = true })
	r.reconcile()
	s.show("paused")
	image("db:5")
	r.reconcile()
	s.show("paused, and another image")
	image("db:3")
	r.edit(func(s *v1beta1.StatefulSetSpec) {
		s.UpdateStrategy.RollingUpdate.Paused, s.Replicas = false, new(int32(0))
	})
	r.settle()
	s.show("no pods are wanted")
	s.expect(
		reading{"the first pod does not start", "Degraded", "InProgress", rollout.InProgress},
		reading{"the first pod runs, and the next is not seen yet", "Healthy", "InProgress", rollout.InProgress},
		reading{"all pods run", "Healthy", "Current", rollout.Complete},
		reading{"another image, not yet observed", "Progressing", "InProgress", rollout.Unobserved},
		reading{"another image, observed", "Degraded", "InProgress", rollout.InProgress},
		reading{"all pods run it", "Healthy", "Current", rollout.Complete},
		reading{"a canary starts", "Progressing", "InProgress", rollout.InProgress},
		reading{"a canary runs, and two pods are held back", "Progressing", "Current", rollout.Complete},
		reading{"two canaries run, and one pod is held back", "Progressing", "Current", rollout.Complete},
		reading{"the partition is 0 again", "Healthy", "Current", rollout.Complete},
		reading{"an image that does not start", "Degraded", "InProgress", rollout.InProgress},
		reading{"back", "Healthy", "Current", rollout.Complete},
		reading{"paused", "Suspended", "Current", rollout.Complete},
		reading{"paused, and another image", "Suspended", "InProgress", rollout.InProgress},
		reading{"no pods are wanted", "Healthy", "Current", rollout.Complete},
	)
}
