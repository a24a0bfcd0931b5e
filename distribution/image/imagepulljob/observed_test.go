// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// IMG-1.8: a status says which generation it is about, and nothing is written for that alone unless it says another.
func TestObservedGeneration(t *testing.T) {
	running := v1alpha1.ImagePullJobStatus{StartTime: at(-time.Hour), Desired: 1, Active: 1, Message: "job is running, progress 0.0%"}
	over := v1alpha1.ImagePullJobStatus{StartTime: at(-time.Hour), CompletionTime: at(-time.Minute), Desired: 1, Succeeded: 1, Message: "job has completed"}
	seen := func(status v1alpha1.ImagePullJobStatus, generation int64) v1alpha1.ImagePullJobStatus {
		status.ObservedGeneration = generation
		return status
	}
	for _, test := range []struct {
		name   string
		status v1alpha1.ImagePullJobStatus
		ttl    *int32
		want   *v1alpha1.ImagePullJobStatus
		delete bool
	}{
		{name: "a job that begins", want: &v1alpha1.ImagePullJobStatus{ObservedGeneration: 3, StartTime: at(0), Desired: 1, Active: 1, Message: "job is running, progress 0.0%"}},
		{name: "the generation stands", status: seen(running, 3)},
		{name: "another generation changes nothing else", status: seen(running, 2), want: ptr.To(seen(running, 3))},
		{name: "a status that has none", status: running},
		{name: "a job that is over", status: seen(over, 3)},
		{name: "a job that is over has another TTL", status: seen(over, 2), ttl: ptr.To[int32](600), want: ptr.To(seen(over, 3))},
		{name: "a job that is over and has none", status: over},
		{name: "a job that is to be deleted", status: seen(over, 2), ttl: ptr.To[int32](30), delete: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, "")
			job.Generation, job.Status, job.Spec.CompletionPolicy.TTLSecondsAfterFinished = 3, test.status, test.ttl
			plan := NewPlan(snapshot(job, nodeImage("n", given(pulling))))
			if diff := cmp.Diff(test.want, plan.Status); diff != "" || plan.Delete != test.delete {
				t.Errorf("deletes %t; status (-want +got):\n%s", plan.Delete, diff)
			}
		})
	}
}
