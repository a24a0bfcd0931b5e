// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
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

// counts has the ImagePullJob begun, with the numbers of nodes.
func counts(desired, active, succeeded, failed int32) func(*v1alpha1.ImagePullJob) {
	return func(job *v1alpha1.ImagePullJob) {
		job.Status = v1alpha1.ImagePullJobStatus{StartTime: at(-time.Hour), Desired: desired, Active: active, Succeeded: succeeded, Failed: failed}
	}
}

func named(name string) func(*v1alpha1.ImagePullJob) {
	return func(job *v1alpha1.ImagePullJob) { job.Name = name }
}

func spec(change func(*v1alpha1.ImagePullJobSpec)) func(*v1alpha1.ImagePullJob) {
	return func(job *v1alpha1.ImagePullJob) { change(&job.Spec) }
}

func TestPlanJobs(t *testing.T) {
	job := newJob(t, "pullSecrets: [s]\nparallelism: 1\ncompletionPolicy: {ttlSecondsAfterFinished: 60}")
	older := func(job *v1alpha1.ImagePullJob) { job.CreationTimestamp = *at(-2 * time.Hour) }
	going := func(job *v1alpha1.ImagePullJob) { job.DeletionTimestamp = at(0) }
	// As OpenKruise makes them: a name that is made up, defaults that are written, a time to live.
	foreign := func(job *v1alpha1.ImagePullJob) {
		job.Name = "warm-x7k2p"
		job.Spec.ImagePullPolicy, job.Spec.Parallelism = v1alpha1.ImagePullIfNotPresent, nil
		job.Spec.CompletionPolicy.TTLSecondsAfterFinished = ptr.To[int32](60)
	}
	nameOf := func(image string) string { return jobFor(job, image).Name }
	for _, test := range []struct {
		name string
		jobs []*v1alpha1.ImagePullJob
		want []string
	}{
		{"ILP-3: none is there", nil, []string{"create a", "create b"}},
		{"ILP-3: all are there", []*v1alpha1.ImagePullJob{one(job, "b"), one(job, "a")}, nil},
		{"ILP-3: one is missing", []*v1alpha1.ImagePullJob{one(job, "a")}, []string{"create b"}},
		{"ILP-3: an image that is not listed", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "b"), one(job, "c")}, []string{"delete " + nameOf("c")}},
		{"ILP-3: another spec", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "b", named("b-old"), spec(func(s *v1alpha1.ImagePullJobSpec) { s.PullSecrets = nil }))},
			[]string{"delete b-old", "create b"}},
		{"ILP-3: another pull policy", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "b", named("b-old"), spec(func(s *v1alpha1.ImagePullJobSpec) { s.ImagePullPolicy = "Always" }))},
			[]string{"delete b-old", "create b"}},
		{"ILP-3: two of one image: the older one counts", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "a", named("a-old"), older), one(job, "b")}, []string{"delete " + nameOf("a")}},
		{"ILP-3: of OpenKruise; ILP-5: it stays", []*v1alpha1.ImagePullJob{one(job, "a", foreign), one(job, "b")}, []string{"keep warm-x7k2p"}},
		{"ILP-3: a user gave one the image of another", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "b", older, spec(func(s *v1alpha1.ImagePullJobSpec) { s.Image = "a" }))}, []string{"delete " + nameOf("b")}},
		{"ILP-3: a user gave one that is not listed the image of one that is", []*v1alpha1.ImagePullJob{one(job, "a"), one(job, "c", spec(func(s *v1alpha1.ImagePullJobSpec) { s.Image = "b" }))}, []string{"delete " + nameOf("c"), "create b"}},
		{"ILP-3: one that is being deleted holds the name", []*v1alpha1.ImagePullJob{one(job, "a", going), one(job, "b")}, nil},
		{"ILP-3: one of another name does not", []*v1alpha1.ImagePullJob{one(job, "a", named("a-old"), going), one(job, "b")}, []string{"create a"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(&Snapshot{Job: job, Jobs: test.jobs, Now: noon})
			var got []string
			for _, job := range plan.Delete {
				got = append(got, "delete "+job.Name)
			}
			for _, job := range plan.Create {
				got = append(got, "create "+job.Spec.Image)
			}
			for _, job := range plan.Keep {
				got = append(got, "keep "+job.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// ILP-1, ILP-3: what stands in the ImagePullJob of an image.
func TestJobFor(t *testing.T) {
	job := newJob(t, `
pullSecrets: [s]
selector: {names: [n1]}
parallelism: 10%
pullPolicy: {timeoutSeconds: 9}
completionPolicy: {type: Always, activeDeadlineSeconds: 70, ttlSecondsAfterFinished: 60}
sandboxConfig: {labels: {a: b}}
imagePullPolicy: Always`)
	want := &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "warm-9a1cf1f7dd", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "apps.kruise.io/v1alpha1", Kind: "ImageListPullJob", Name: "warm", UID: "list-uid", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}}}}
	if err := yaml.UnmarshalStrict([]byte(`
image: a
pullSecrets: [s]
selector: {names: [n1]}
parallelism: 10%
pullPolicy: {timeoutSeconds: 9, backoffLimit: 3}
completionPolicy: {type: Always, activeDeadlineSeconds: 70}
sandboxConfig: {labels: {a: b}}
imagePullPolicy: Always`), &want.Spec); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, jobFor(job, "a")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long := newJob(t, "")
	long.Name = strings.Repeat("x", 239) + ".yyy"
	if name := jobFor(long, "a").Name; len(name) > 253 || !strings.HasPrefix(name, strings.Repeat("x", 239)+"-") {
		t.Errorf("name %s", name)
	}
	again := newJob(t, "")
	again.UID = "another"
	if jobFor(job, "a").Name == jobFor(job, "b").Name || jobFor(again, "a").Name == jobFor(newJob(t, ""), "a").Name || jobFor(job, "a").Name == jobFor(newJob(t, ""), "a").Name {
		t.Error("two ImagePullJobs have one name")
	}
}

func TestPlanStatus(t *testing.T) {
	always, never := newJob(t, "completionPolicy: {type: Always}"), newJob(t, "completionPolicy: {type: Never}")
	unseen := func(job *v1alpha1.ImagePullJob) { job.Generation, job.Status.ObservedGeneration = 2, 1 }
	entry := func(job, image, message string) v1alpha1.FailedImageStatus {
		return v1alpha1.FailedImageStatus{ImagePullJob: job, Name: image, Message: message}
	}
	a, b := jobFor(always, "a").Name, jobFor(always, "b").Name
	for _, test := range []struct {
		name    string
		job     *v1alpha1.ImageListPullJob
		jobs    []*v1alpha1.ImagePullJob
		refused map[string]string
		want    v1alpha1.ImageListPullJobStatus
	}{
		{"ILP-4: none is there", always, nil, nil, v1alpha1.ImageListPullJobStatus{}},
		{"ILP-4: none has begun", always, []*v1alpha1.ImagePullJob{one(always, "a"), one(always, "b")}, nil, v1alpha1.ImageListPullJobStatus{}},
		{"ILP-4: active, and half done", always, []*v1alpha1.ImagePullJob{one(always, "a", counts(3, 1, 1, 0)), one(always, "b", counts(3, 0, 3, 0))}, nil,
			v1alpha1.ImageListPullJobStatus{Active: 1, Completed: 1, Succeeded: 1}},
		{"ILP-4: all done, one with a failure", always, []*v1alpha1.ImagePullJob{one(always, "a", counts(3, 0, 1, 2)), one(always, "b", counts(3, 0, 3, 0))}, nil,
			v1alpha1.ImageListPullJobStatus{Completed: 2, Succeeded: 1, CompletionTime: at(0),
				FailedImageStatuses: []v1alpha1.FailedImageStatus{entry(a, "a", "2 of 3 nodes have given the image up: ImagePullJob "+a+" names them")}}},
		{"ILP-4: no nodes", always, []*v1alpha1.ImagePullJob{one(always, "a", counts(0, 0, 0, 0)), one(always, "b", counts(0, 0, 0, 0))}, nil,
			v1alpha1.ImageListPullJobStatus{Completed: 2, Succeeded: 2, CompletionTime: at(0)}},
		{"ILP-4: Never is never over", never, []*v1alpha1.ImagePullJob{one(never, "a", counts(1, 0, 1, 0)), one(never, "b", counts(1, 0, 1, 0))}, nil,
			v1alpha1.ImageListPullJobStatus{Completed: 2, Succeeded: 2}},
		{"ILP-4: of another spec", always, []*v1alpha1.ImagePullJob{one(never, "a", counts(1, 0, 1, 0)), one(always, "b", counts(1, 0, 1, 0))}, nil,
			v1alpha1.ImageListPullJobStatus{Completed: 1, Succeeded: 1}},
		{"ILP-4: a spec that its controller has not seen", always, []*v1alpha1.ImagePullJob{one(always, "a", counts(1, 0, 1, 0), unseen), one(always, "b")}, nil, v1alpha1.ImageListPullJobStatus{}},
		{"ILP-4: refused, and being deleted", always, []*v1alpha1.ImagePullJob{one(always, "b", func(job *v1alpha1.ImagePullJob) { job.DeletionTimestamp = at(0) })},
			map[string]string{"a": "forbidden", "gone": "forbidden"}, v1alpha1.ImageListPullJobStatus{FailedImageStatuses: []v1alpha1.FailedImageStatus{
				entry("", "a", "forbidden"), entry("", "b", "ImagePullJob "+b+" is being deleted: it is created again when it is gone")}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.StartTime, test.want.Desired, test.want.ObservedGeneration = at(0), 2, 2
			plan := NewPlan(&Snapshot{Job: test.job, Jobs: test.jobs, Refused: test.refused, Now: noon})
			if diff := cmp.Diff(&test.want, plan.Status); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Progress is told every 5 seconds, and the end at once. What stands already is not written. (ILP-4)
func TestPlanStatusInTime(t *testing.T) {
	job := newJob(t, "completionPolicy: {type: Always, ttlSecondsAfterFinished: 60}")
	job.Status = v1alpha1.ImageListPullJobStatus{StartTime: at(-time.Hour), Desired: 2, ObservedGeneration: 2}
	halfway := []*v1alpha1.ImagePullJob{one(job, "a", counts(1, 0, 1, 0)), one(job, "b", counts(1, 1, 0, 0))}
	for _, test := range []struct {
		name     string
		jobs     []*v1alpha1.ImagePullJob
		reported time.Time
		written  bool
		again    time.Duration
	}{
		{"nothing new", nil, time.Time{}, false, 0},
		{"progress, and it is not known when it was written last", halfway, time.Time{}, true, 0},
		{"progress, soon after the last", halfway, noon.Add(-2 * time.Second), false, 3 * time.Second},
		{"progress, later", halfway, noon.Add(-5 * time.Second), true, 0},
		{"the end, soon after the last; it is deleted in a minute", []*v1alpha1.ImagePullJob{one(job, "a", counts(1, 0, 1, 0)), one(job, "b", counts(1, 0, 1, 0))}, noon, true, time.Minute},
	} {
		plan := NewPlan(&Snapshot{Job: job, Jobs: test.jobs, Reported: test.reported, Now: noon})
		if (plan.Status != nil) != test.written || plan.RequeueAfter != test.again {
			t.Errorf("%s: status %+v, again after %v", test.name, plan.Status, plan.RequeueAfter)
		}
	}
}

// Of a job that is over, the time to live alone counts. (ILP-5)
func TestPlanOfWhatIsOver(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		over       time.Duration
		seen       int64
		want       string
		again      time.Duration
	}{
		{"ILP-5: no time to live", "", time.Hour, 2, "", 0},
		{"ILP-5: it is not over yet", "completionPolicy: {ttlSecondsAfterFinished: 60}", 20 * time.Second, 2, "", 40 * time.Second},
		{"ILP-5: it is over", "completionPolicy: {ttlSecondsAfterFinished: 60}", time.Minute, 2, "delete the job", 0},
		{"ILP-4: a change is seen", "", time.Hour, 1, "write the status: 2 desired, 0 active, 2 completed, 2 succeeded", 0},
	} {
		job := newJob(t, test.spec)
		job.Status = v1alpha1.ImageListPullJobStatus{StartTime: at(-2 * time.Hour), CompletionTime: at(-test.over), Desired: 2, Completed: 2, Succeeded: 2, ObservedGeneration: test.seen}
		if plan := NewPlan(&Snapshot{Job: job, Now: noon}); fmt.Sprint(plan) != test.want || plan.RequeueAfter != test.again {
			t.Errorf("%s: %q, again after %v", test.name, plan, plan.RequeueAfter)
		}
	}
	job := newJob(t, "")
	job.DeletionTimestamp = at(0)
	if plan := NewPlan(&Snapshot{Job: job, Now: noon}); fmt.Sprint(plan) != "" {
		t.Errorf("a job that is being deleted: %s", plan)
	}
}
