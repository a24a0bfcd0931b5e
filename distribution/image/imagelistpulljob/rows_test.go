// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// noon is when all plans are made.
var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) *metav1.Time { return ptr.To(metav1.NewTime(noon.Add(after))) }

// newJob returns the job warm of the images a and b, with a spec in YAML beside them.
func newJob(t testing.TB, spec string) *v1alpha1.ImageListPullJob {
	t.Helper()
	job := &v1alpha1.ImageListPullJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "warm", UID: "list-uid", Generation: 2},
		Spec:       v1alpha1.ImageListPullJobSpec{Images: []string{"a", "b"}},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &job.Spec); err != nil {
		t.Fatal(err)
	}
	return job
}

// one is the ImagePullJob that a job wants of an image, as the cluster has it, changed.
func one(of *v1alpha1.ImageListPullJob, image string, changes ...func(*v1alpha1.ImagePullJob)) *v1alpha1.ImagePullJob {
	job := jobFor(of, image)
	job.UID, job.CreationTimestamp = types.UID(image+"-uid"), *at(-time.Hour)
	for _, change := range changes {
		change(job)
	}
	return job
}

// row is a line of testdata/rows.
type row struct {
	// Job is the job warm of the images a and b. Reported is how long ago its status was last written, empty if that is not known.
	Job      *v1alpha1.ImageListPullJob
	Reported string
	// Jobs are the ImagePullJobs that it wants of images, as the cluster has them, and what is different about them.
	Jobs []map[string]json.RawMessage
	// Counts has the ImagePullJob of an image have begun, with so many nodes: desired, active, succeeded and failed.
	Counts map[string][4]int32
	// Refused are images whose ImagePullJobs the API server has refused.
	Refused map[string]string
}

// TestRows plays the tables of jobs, see patches.PlayRows. They show:
//
//	plan        what is planned at noon
//	of          the ImagePullJobs of the images of a job
//	progress    how far a job is
func TestRows(t *testing.T) {
	blank := func() row { return row{Job: newJob(t, "completionPolicy: {type: Always}")} }
	patches.PlayRows(t, "testdata/rows", blank, func(t *testing.T, command string, r *row) string {
		switch command {
		case "of":
			return patches.JSON(t, jobFor(r.Job, "a")) + "\n" + jobFor(r.Job, "b").Name
		case "progress":
			return string(RolloutStatus(r.Job).Phase)
		}
		return showPlan(t, r.snapshot(t))
	})
}

func (r *row) snapshot(t *testing.T) *Snapshot {
	s := &Snapshot{Job: r.Job, Refused: r.Refused, Now: noon}
	for _, of := range r.Jobs {
		for image, patch := range of {
			job := one(r.Job, image)
			if count, begun := r.Counts[image]; begun {
				job.Status = v1alpha1.ImagePullJobStatus{StartTime: at(-time.Hour), Desired: count[0], Active: count[1], Succeeded: count[2], Failed: count[3]}
			}
			if err := json.Unmarshal(patch, job); err != nil {
				t.Fatal(err)
			}
			s.Jobs = append(s.Jobs, job)
		}
	}
	if ago, err := time.ParseDuration(r.Reported); err == nil {
		s.Reported = noon.Add(-ago)
	}
	return s
}

// showPlan shows a plan, in which the names of wanted ImagePullJobs stand as "of" and their image.
func showPlan(t *testing.T, s *Snapshot) string {
	plan := NewPlan(s)
	text := plan.String() + "\n"
	if plan.Status != nil {
		text += patches.JSON(t, plan.Status) + "\n"
	}
	if plan.RequeueAfter > 0 {
		text += "again in " + plan.RequeueAfter.String()
	}
	for _, image := range []string{"a", "b", "c"} {
		text = strings.ReplaceAll(text, jobFor(s.Job, image).Name, "of-"+image)
	}
	return text
}
