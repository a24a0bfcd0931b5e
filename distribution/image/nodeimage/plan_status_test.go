// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"math"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// A plan never takes away what a living job counts, and never asks for a reconcile
// at once.
func FuzzPlan(f *testing.F) {
	f.Add(int64(60), int64(30), int32(60), int64(1), int64(1), true, "Succeeded")
	f.Add(int64(-1), int64(0), int32(-1), int64(0), int64(1), false, "")
	f.Fuzz(func(t *testing.T, age, done int64, ttl int32, version, reported int64, unready bool, phase string) {
		n, given := nodeImage(), v1alpha1.ImageTagSpec{Tag: "1", Version: version, CreatedAt: new(at(time.Duration(age%math.MaxInt32) * time.Second)),
			OwnerReferences: []corev1.ObjectReference{images.TaskOwner(job("a"))}, PullPolicy: &v1alpha1.ImageTagPullPolicy{
				TTLSecondsAfterFinished: &ttl, TimeoutSeconds: new(int32(version)), BackoffLimit: new(int32(reported)), ActiveDeadlineSeconds: &done}}
		status := v1alpha1.ImageTagStatus{Tag: "1", Version: reported, Phase: v1alpha1.ImagePullPhase(phase)}
		if phase != "" {
			status.CompletionTime = new(at(time.Duration(done%math.MaxInt32) * time.Second))
		}
		n.Spec.Images = map[string]v1alpha1.ImageSpec{"nginx": {Tags: []v1alpha1.ImageTagSpec{given}}}
		n.Status.ImageStatuses = map[string]v1alpha1.ImageStatus{"nginx": {Tags: []v1alpha1.ImageTagStatus{status}}}
		s := snapshot(n, job("a"))
		if unready {
			s.Node = node(corev1.ConditionFalse, time.Duration(age%math.MaxInt32)*time.Second)
		}
		plan := NewPlan(s)
		if plan.RequeueAfter < 0 || plan.Change != nil || len(plan.Dropped) > 0 {
			t.Errorf("plan: %+v", plan)
		}
		if len(plan.Failed) > 0 {
			s.NodeImage.Status = *plan.Status
			if again := NewPlan(s); again.Status != nil {
				t.Errorf("the same task fails again: %+v", again.Failed)
			}
		}
	})
}

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
