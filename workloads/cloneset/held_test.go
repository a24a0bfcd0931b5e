// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CS-40: a controller that has begun anew goes on with what the status says.
func TestHeldUpAfterARestart(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=1", "image=nginx:1")
	w.settle()
	w.Spec("paused=true", "image=nginx:2")
	w.settle()
	s := w.snapshot()
	since := metav1.NewTime(w.Now.Add(-time.Hour))
	set := s.Set.DeepCopy()
	statuses.Put(&set.Status, v1alpha1.CloneSetConditionHeldUp, "True", "Paused", "updateStrategy.paused is true", since.Time)
	s.Set = set
	if plan := NewPlan(s); plan.Status != nil {
		t.Errorf("status %+v", plan.Status)
	}
}
