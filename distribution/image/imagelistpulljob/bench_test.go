// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"
	"testing"
	"time"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// BenchmarkPlan plans for a job of images that are all being pulled. A job has 255 at most.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{16, 255} {
		b.Run(fmt.Sprint(n, " images"), func(b *testing.B) {
			job := newJob(b, "{}")
			job.Spec.Images = nil
			var jobs []*v1alpha1.ImagePullJob
			for i := range n {
				name := fmt.Sprintf("registry.example/team/image-%d:v1", i)
				job.Spec.Images = append(job.Spec.Images, name)
				jobs = append(jobs, one(job, name))
				jobs[i].Status = v1alpha1.ImagePullJobStatus{StartTime: at(-time.Hour), Desired: 10, Active: 10}
			}
			s := &Snapshot{Job: job, Jobs: jobs, Now: noon}
			b.ReportAllocs()
			for b.Loop() {
				if p := NewPlan(s); len(p.Create)+len(p.Delete) > 0 {
					b.Fatalf("%d are created, %d deleted", len(p.Create), len(p.Delete))
				}
			}
		})
	}
}
