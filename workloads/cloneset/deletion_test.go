// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestInDeletion: what a CloneSet in deletion owns is the garbage collector's.
// (CS-3)
func TestInDeletion(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*setScenario)
	}{
		{"a pod that the selector no longer matches is not released", func(w *setScenario) {
			w.Edit(w.Pods[0].Name, func(p *corev1.Pod) { p.Labels["app"] = "other" })
		}},
		{"a new template gives no revision", func(w *setScenario) { w.Spec("image=nginx:9") }},
		{"a former template raises no revision", func(w *setScenario) {
			w.Spec("image=nginx:2")
			w.settle()
			w.Spec("image=nginx:1")
		}},
		{"missing pods are not created", func(w *setScenario) { w.Spec("replicas=9") }},
		{"claims stay that are not to be used again", func(w *setScenario) {
			w.Remove(w.Pods[0].Name)
			w.Spec("disablePVCReuse=true")
		}},
		{"revisions beyond the history limit stay", func(w *setScenario) {
			w.Spec("image=nginx:2")
			w.settle()
			w.Spec("historyLimit=0")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newScenario(t)
			w.Spec("replicas=2", "claims=data", "type=InPlaceIfPossible")
			w.settle()
			test.change(w)
			if !acts(NewPlan(w.snapshot())) {
				t.Fatal("there is nothing to do anyway")
			}
			w.set.DeletionTimestamp = &metav1.Time{Time: w.Now}
			plan := NewPlan(w.snapshot())
			if plan.Status = nil; acts(plan) { // the status still counts
				t.Errorf("plan %+v", plan)
			}
		})
	}
}
