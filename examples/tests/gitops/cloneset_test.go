// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// stateless is a CloneSet whose pods are recreated, and a cluster in which they run.
type stateless struct {
	cloneset.Snapshot
	broken string // an image that does not start
}

func newStateless() *stateless {
	r := &stateless{Snapshot: cloneset.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Set: &v1alpha1.CloneSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CloneSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1", Generation: 1},
		Spec: v1alpha1.CloneSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
		}}}}
	r.Set.Spec.Replicas = new(int32(3))
	r.Set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "web:1"}}
	return r.defaulted()
}

func (r *stateless) defaulted() *stateless {
	cloneset.Default(r.Set, nil, cloneset.DefaultOptions{})
	return r
}

// edit is what a user does.
func (r *stateless) edit(change func(*v1alpha1.CloneSetSpec)) {
	change(&r.Set.Spec)
	r.Set.Generation++
}

// reconcile plans once, and does what the plan says.
func (r *stateless) reconcile() {
	plan := cloneset.NewPlan(&r.Snapshot)
	if plan.Status != nil {
		r.Set.Status = *plan.Status
	}
	apply(&plan.Plan, &r.Pods, &r.Revisions, r.Now, r.broken)
}

// settle reconciles until nothing changes any more.
func (r *stateless) settle() {
	for range 20 {
		r.reconcile()
	}
}

// A CloneSet is shown as healthy when all of its pods are updated and available, and as suspended when it waits for its user. It
// is shown as neither when pods are to be updated or do not start. What it is called then is Argo CD's choice.
func TestCloneSet(t *testing.T) {
	r := newStateless()
	s := &story{T: t, kind: "CloneSet", object: func() any { return r.Set }, status: func() rollout.Status { return cloneset.RolloutStatus(r.Set) }}
	image := func(name string) {
		r.edit(func(s *v1alpha1.CloneSetSpec) { s.Template.Spec.Containers[0].Image = name })
	}
	partition := func(n int32) {
		r.edit(func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Partition = new(intstr.FromInt32(n)) })
	}
	creates := func(most *intstr.IntOrString) {
		r.edit(func(s *v1alpha1.CloneSetSpec) { s.ScaleStrategy.MaxUnavailable = most })
	}
	r.broken = "web:1"
	creates(new(intstr.FromInt32(0)))
	r.reconcile()
	s.show("no pod may be created")
	r.settle()
	s.show("no pod may be created for long")
	creates(nil)
	r.reconcile()
	s.show("pods are created")
	r.settle()
	s.show("no pod starts")
	r.Pods, r.broken = nil, ""
	r.settle()
	s.show("all pods run")
	image("web:2")
	s.show("another image, not yet observed")
	r.reconcile()
	s.show("another image, observed")
	for range 20 {
		r.reconcile()
		reached := updatedAndAvailable(r.Pods, &r.Set.Spec.Template, 3)
		if s.never(reached); health(t, "CloneSet", r.Set) == "Healthy" && !reached {
			t.Errorf("it is shown as healthy too early: %+v", r.Set.Status)
		}
	}
	r.settle()
	s.show("all pods run it")
	partition(2)
	image("web:3")
	r.reconcile()
	s.show("a canary starts")
	r.settle()
	s.show("a canary runs, and two pods are held back")
	partition(0)
	r.settle()
	s.show("the partition is 0 again")
	r.broken = "web:4"
	image("web:4")
	r.settle()
	s.show("an image that does not start")
	r.edit(func(s *v1alpha1.CloneSetSpec) { s.ProgressDeadlineSeconds = new(int32(600)) })
	r.settle()
	s.show("a progress deadline is set")
	r.Now = r.Now.Add(601 * time.Second)
	r.settle()
	s.show("it is exceeded")
	image("web:3")
	r.settle()
	s.show("back")
	r.edit(func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Paused = true })
	r.reconcile()
	s.show("paused")
	image("web:5")
	r.reconcile()
	s.show("paused, and another image")
	image("web:3")
	r.edit(func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Paused, s.Replicas = false, new(int32(0)) })
	r.settle()
	s.show("no pods are wanted")
	r.edit(func(s *v1alpha1.CloneSetSpec) { s.Replicas = new(int32(3)) })
	creates(new(intstr.FromInt32(0)))
	r.settle()
	s.show("three are wanted, and none may be created")
	creates(nil)
	r.settle()
	s.show("they may")
	s.expect(
		reading{"no pod may be created", "Progressing", "InProgress", rollout.Unobserved},
		reading{"no pod may be created for long", "Progressing", "InProgress", rollout.Unobserved},
		reading{"pods are created", "Degraded", "InProgress", rollout.InProgress},
		reading{"no pod starts", "Degraded", "InProgress", rollout.InProgress},
		reading{"all pods run", "Healthy", "Current", rollout.Complete},
		reading{"another image, not yet observed", "Progressing", "InProgress", rollout.Unobserved},
		reading{"another image, observed", "Degraded", "InProgress", rollout.InProgress},
		reading{"all pods run it", "Healthy", "Current", rollout.Complete},
		reading{"a canary starts", "Progressing", "InProgress", rollout.InProgress},
		reading{"a canary runs, and two pods are held back", "Suspended", "Current", rollout.Complete},
		reading{"the partition is 0 again", "Healthy", "Current", rollout.Complete},
		reading{"an image that does not start", "Degraded", "InProgress", rollout.InProgress},
		reading{"a progress deadline is set", "Degraded", "InProgress", rollout.InProgress},
		reading{"it is exceeded", "Degraded", "Failed", rollout.Failed},
		reading{"back", "Healthy", "Current", rollout.Complete},
		reading{"paused", "Suspended", "Current", rollout.Complete},
		reading{"paused, and another image", "Suspended", "InProgress", rollout.InProgress},
		reading{"no pods are wanted", "Healthy", "Current", rollout.Complete},
		reading{"three are wanted, and none may be created", "Progressing", "InProgress", rollout.Unobserved},
		reading{"they may", "Healthy", "Current", rollout.Complete},
	)
}
