// SPDX-License-Identifier: Apache-2.0

package nodeimage_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// A plan says which tasks go, and why, without any cluster.
func ExampleNewPlan() {
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-d)} }
	ttl := int32(600)
	n := &v1alpha1.NodeImage{
		ObjectMeta: metav1.ObjectMeta{Name: "n1"},
		Spec: v1alpha1.NodeImageSpec{Images: map[string]v1alpha1.ImageSpec{"nginx": {Tags: []v1alpha1.ImageTagSpec{
			{Tag: "1.26", CreatedAt: ago(time.Hour), PullPolicy: &v1alpha1.ImageTagPullPolicy{TTLSecondsAfterFinished: &ttl}},
			{Tag: "1.27", CreatedAt: ago(20 * time.Second), PullPolicy: &v1alpha1.ImageTagPullPolicy{TTLSecondsAfterFinished: &ttl}},
		}}}},
		Status: v1alpha1.NodeImageStatus{ImageStatuses: map[string]v1alpha1.ImageStatus{"nginx": {Tags: []v1alpha1.ImageTagStatus{
			{Tag: "1.26", Phase: v1alpha1.ImagePhaseSucceeded, CompletionTime: ago(50 * time.Minute)},
		}}}},
	}
	plan := nodeimage.NewPlan(&nodeimage.Snapshot{Node: &corev1.Node{}, NodeImage: n, Now: now})

	for _, d := range plan.Dropped {
		fmt.Printf("%s:%s goes: %s\n", d.Image, d.Tag, d.Reason)
	}
	fmt.Println("look again in", plan.RequeueAfter)
	// Output:
	// nginx:1.26 goes: it finished more than 600 s ago (ttlSecondsAfterFinished)
	// look again in 40s
}
