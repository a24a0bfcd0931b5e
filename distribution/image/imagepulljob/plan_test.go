// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Whatever a job says, its plan keeps to it.
func FuzzPlan(f *testing.F) {
	f.Add("nginx:1", "1", int64(60), int32(60), 3, int64(30))
	f.Add("a/b", "30%", int64(-1), int32(0), 0, int64(0))
	f.Fuzz(func(t *testing.T, image, parallel string, deadline int64, ttl int32, nodes int, since int64) {
		job := newJob(t, "")
		job.Spec.Image, job.Spec.Parallelism = image, percent(parallel)
		job.Spec.CompletionPolicy.ActiveDeadlineSeconds, job.Spec.CompletionPolicy.TTLSecondsAfterFinished = &deadline, &ttl
		job.Status.StartTime = ptr.To(*at(-time.Duration(since%math.MaxInt32) * time.Second))
		plan := NewPlan(snapshot(job, fresh(min(max(nodes, 0), 50))...))
		if n := int32(len(plan.Assign)); n > plan.Parallelism {
			t.Errorf("%d nodes get the task, parallelism is %d", n, plan.Parallelism)
		}
		if plan.RequeueAfter < 0 || plan.Status == nil || plan.Status.Desired != plan.Status.Succeeded+plan.Status.Failed && plan.Status.CompletionTime != nil {
			t.Errorf("plan: %+v", plan)
		}
		for _, h := range plan.Assign {
			if policy := h.Image.Tags[0].PullPolicy; *policy.TTLSecondsAfterFinished < ttlReserve {
				t.Errorf("TTL %d", *policy.TTLSecondsAfterFinished)
			}
			if _, err := h.Patch(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A status names so many nodes, and counts all. (IMG-1.5)
func TestStatusOfManyFailedNodes(t *testing.T) {
	var nodes []*v1alpha1.NodeImage
	failed := nodeImage("", "Failed")
	for i := range 6000 {
		n := *failed
		n.Name = fmt.Sprintf("n%04d", i)
		nodes = append(nodes, &n)
	}
	for spec, all := range map[string][]*v1alpha1.NodeImage{"": nodes, "completionPolicy: {activeDeadlineSeconds: 1}": fresh(6000)} {
		job := newJob(t, spec)
		job.Status.StartTime = at(-time.Hour)
		status := NewPlan(snapshot(job, all...)).Status
		if status.Failed != 6000 || len(status.FailedNodes) != mostFailedNodes || !slices.IsSorted(status.FailedNodes) {
			t.Errorf("IMG-1.5: %s: %d failed, %d named", spec, status.Failed, len(status.FailedNodes))
		}
	}
}

func TestNothingToPlanFor(t *testing.T) {
	if plan := NewPlan(nil); !reflect.DeepEqual(plan, &Plan{}) {
		t.Errorf("plan %+v, want none", plan)
	}
}
