// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"fmt"
	"testing"
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func BenchmarkNewPlan(b *testing.B) {
	for _, images := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(images, " images"), func(b *testing.B) {
			n := with(b, nil)
			n.Status.ImageStatuses = map[string]v1alpha1.ImageStatus{}
			for i := range images {
				name := fmt.Sprint("image", i)
				n.Spec.Images[name] = v1alpha1.ImageSpec{Tags: []v1alpha1.ImageTagSpec{task("1", owners("a")...)}}
				n.Status.ImageStatuses[name] = v1alpha1.ImageStatus{Tags: []v1alpha1.ImageTagStatus{finished("1", succeeded, time.Second)}}
			}
			delete(n.Spec.Images, "nginx")
			s := snapshot(n, job("a"))
			b.ReportAllocs()
			for b.Loop() {
				NewPlan(s)
			}
		})
	}
}
