// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

func BenchmarkNewPlan(b *testing.B) {
	task := v1alpha1.ImageTagSpec{Tag: "1", Version: 1, CreatedAt: new(at(20 * time.Second)),
		OwnerReferences: []corev1.ObjectReference{images.TaskOwner(job("a"))}}
	ended := v1alpha1.ImageTagStatus{Tag: "1", Version: 1, Phase: v1alpha1.ImagePhaseSucceeded, CompletionTime: new(at(time.Second))}
	for _, count := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(count, " images"), func(b *testing.B) {
			n := nodeImage()
			n.Spec.Images, n.Status.ImageStatuses = map[string]v1alpha1.ImageSpec{}, map[string]v1alpha1.ImageStatus{}
			for i := range count {
				name := fmt.Sprint("image", i)
				n.Spec.Images[name] = v1alpha1.ImageSpec{Tags: []v1alpha1.ImageTagSpec{task}}
				n.Status.ImageStatuses[name] = v1alpha1.ImageStatus{Tags: []v1alpha1.ImageTagStatus{ended}}
			}
			s := snapshot(n, job("a"))
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(s)
			}
		})
	}
}
