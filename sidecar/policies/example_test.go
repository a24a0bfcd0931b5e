// SPDX-License-Identifier: Apache-2.0

package policies_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What would be done about a SidecarSet, and why.
func ExampleNewPlan() {
	set := &v1alpha1.SidecarSet{
		ObjectMeta: metav1.ObjectMeta{Name: "log", Generation: 1},
		Spec: v1alpha1.SidecarSetSpec{
			Selector:   &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}},
		},
		Status: v1alpha1.SidecarSetStatus{ObservedGeneration: 1, LatestRevision: "log-1"},
	}
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "log-1", CreationTimestamp: metav1.NewTime(time.Now())}}
	fmt.Println(policies.NewPlan(&policies.Snapshot{SidecarSet: set, Revisions: []*appsv1.ControllerRevision{revision}}))

	set.Spec.InjectionStrategy.Paused = true
	fmt.Println(policies.NewPlan(&policies.Snapshot{SidecarSet: set}))
	// Output:
	// create policy sidecarset-log
	// create binding sidecarset-log
	// no policy: spec.injectionStrategy.paused is true
}
