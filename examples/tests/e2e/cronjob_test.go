// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// newCronJob runs jobs that need no pods.
func newCronJob(schedule string) *v1alpha1.AdvancedCronJob {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "backup"}}}}
	return &v1alpha1.AdvancedCronJob{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.AdvancedCronJobSpec{
		Schedule: schedule, SuccessfulJobsHistoryLimit: new(int32(1)),
		Template: v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "blue"}},
			Spec:       batchv1.JobSpec{Completions: new(int32(0)), Template: template}}},
	}}
}

// runs takes note of the jobs that there have been, by name.
type runs struct {
	lock sync.Mutex
	uids map[string]types.UID
	errs []string
}

// observe is told of every job.
func (r *runs) observe(job metav1.Object) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if before, seen := r.uids[job.GetName()]; seen && before != job.GetUID() {
		r.errs = append(r.errs, "a second job "+job.GetName())
	}
	r.uids[job.GetName()] = job.GetUID()
}

func (r *runs) count() (n int, errs []string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.uids), r.errs
}

// Jobs are created on schedule, none twice, and deleted when there are too many.
func TestAdvancedCronJob(t *testing.T) {
	t.Parallel()
	s := steady.NewScene(t, nil)
	cronJobs, jobs := steady.workloads.AdvancedCronJobs(s.Namespace), steady.Core.BatchV1().Jobs(s.Namespace)
	runs := &runs{uids: map[string]types.UID{}}
	seen := testbed.Follow(s, mirror.Of(jobs), func(_ map[types.UID]*batchv1.Job, _, job **batchv1.Job, _ string, _ bool) {
		if job != nil {
			runs.observe(*job)
		}
	})
	stored, err := cronJobs.Create(t.Context(), newCronJob("@every 2s"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec := stored.Spec; spec.ConcurrencyPolicy != v1alpha1.AllowConcurrent || *spec.FailedJobsHistoryLimit != 1 || *spec.SuccessfulJobsHistoryLimit != 1 {
		t.Errorf("ACJ-14.2: defaults: %+v", spec)
	}
	s.Await("ACJ-9: four jobs, one after the other", func() string {
		if n, _ := runs.count(); n < 4 {
			return fmt.Sprint(n, " jobs")
		}
		return ""
	})
	if _, err := cronJobs.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"paused":true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Await("ACJ-5: one of them is left", func() string {
		left := seen.All()
		if len(left) == 1 && len(left[0].Status.Conditions) > 0 && left[0].DeletionTimestamp == nil {
			return ""
		}
		return fmt.Sprint(len(left), " jobs")
	})
	job := seen.All()[0]
	scheduled, err := time.Parse(time.RFC3339, job.Annotations[v1alpha1.ScheduledAtAnnotation])
	if owner := metav1.GetControllerOf(job); err != nil || job.Name != fmt.Sprintf("web-%d", scheduled.Unix()) || job.Labels["team"] != "blue" ||
		owner == nil || owner.Kind != "AdvancedCronJob" || owner.UID != stored.UID {
		t.Errorf("ACJ-13.1: error %v, job %+v", err, job.ObjectMeta)
	}
	s.AwaitAsking("ACJ-4: the status of a cron job that is paused", func() string {
		cronJob, err := cronJobs.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if st := cronJob.Status; st.Type != v1alpha1.JobTemplate || len(st.Active) > 0 || st.LastScheduleTime == nil || !st.LastScheduleTime.Time.Equal(scheduled) || st.ObservedGeneration != cronJob.Generation {
			return fmt.Sprintf("generation %d, status %+v", cronJob.Generation, st)
		}
		return ""
	})
	if err := cronJobs.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Await("its jobs go with it", func() string {
		if left := seen.All(); len(left) > 0 {
			return fmt.Sprint(len(left), " jobs")
		}
		return ""
	})
	if n, errs := runs.count(); len(errs) > 0 {
		t.Errorf("ACJ-13.2: %d jobs, %v", n, errs)
	}
}

func TestAdvancedCronJobOfBroadcastJobs(t *testing.T) {
	t.Parallel()
	s := steady.NewScene(t, nil)
	jobs := steady.workloads.BroadcastJobs(s.Namespace)
	seen := testbed.Follow[*v1alpha1.BroadcastJob](s, mirror.Of(jobs), nil)
	cronJob := newCronJob("@every 2s")
	pods := cronJob.Spec.Template.JobTemplate.Spec.Template
	pods.Spec.NodeSelector = map[string]string{"no": "node"}
	cronJob.Spec.ConcurrencyPolicy, cronJob.Spec.SuccessfulJobsHistoryLimit = v1alpha1.ForbidConcurrent, new(int32(0))
	cronJob.Spec.Template = v1alpha1.CronJobTemplate{BroadcastJobTemplate: &v1alpha1.BroadcastJobTemplateSpec{
		Metadata: v1alpha1.TemplateMetadata{Labels: map[string]string{"team": "blue"}}, Spec: v1alpha1.BroadcastJobSpec{Template: pods}}}
	if _, err := steady.workloads.AdvancedCronJobs(s.Namespace).Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var first *v1alpha1.BroadcastJob
	s.Await("ACJ-1: a BroadcastJob", func() string {
		if all := seen.All(); len(all) > 0 {
			first = all[0]
			return ""
		}
		return "none"
	})
	if first.Labels["team"] != "blue" {
		t.Errorf("ACJ-13.1: labels %v", first.Labels)
	}
	complete := []byte(`{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	if _, err := jobs.Patch(t.Context(), first.Name, types.MergePatchType, complete, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	s.Await("ACJ-5, ACJ-12.1: it goes when it is complete, and the next one comes", func() string {
		all := seen.All()
		if len(all) == 1 && all[0].Name != first.Name {
			return ""
		}
		return fmt.Sprint(len(all), " BroadcastJobs")
	})
}

// Images are pulled on schedule, one list after the other, and what the list is may change.
func TestAdvancedCronJobOfImages(t *testing.T) {
	t.Parallel()
	s := steady.NewScene(t, nil)
	distribution, err := distributionclient.NewForConfig(steady.Config())
	if err != nil {
		t.Fatal(err)
	}
	cronJobs, jobs := steady.workloads.AdvancedCronJobs(s.Namespace), distribution.ImageListPullJobs(s.Namespace)
	seen := testbed.Follow[*distributionv1alpha1.ImageListPullJob](s, mirror.Of(jobs), nil)
	cronJob := newCronJob("@every 2s")
	cronJob.Spec.SuccessfulJobsHistoryLimit = nil
	cronJob.Spec.Template = v1alpha1.CronJobTemplate{ImageListPullJobTemplate: &v1alpha1.ImageListPullJobTemplateSpec{
		Spec: distributionv1alpha1.ImageListPullJobSpec{Images: []string{"base:1"}, Selector: &distributionv1alpha1.ImagePullJobNodeSelector{Names: []string{"none"}}}}}
	stored, err := cronJobs.Create(t.Context(), cronJob, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if spec := stored.Spec.Template.ImageListPullJobTemplate.Spec; stored.Spec.ConcurrencyPolicy != v1alpha1.ReplaceConcurrent || spec.CompletionPolicy.Type != distributionv1alpha1.Always ||
		spec.ImagePullPolicy != distributionv1alpha1.ImagePullIfNotPresent {
		t.Errorf("ACJ-14.2: defaults: %+v, %+v", stored.Spec, spec)
	}
	change := []byte(`{"spec":{"template":{"imageListPullJobTemplate":{"spec":{"images":["base:2"]}}}}}`)
	if _, err := cronJobs.Patch(t.Context(), "web", types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Await("ACJ-5, ACJ-14.2: three jobs, the last of the new list", func() string {
		all := seen.All()
		for _, job := range all {
			if len(all) >= 3 && job.Spec.Images[0] == "base:2" {
				return ""
			}
		}
		return fmt.Sprint(len(all), " ImageListPullJobs")
	})
}

// A job that a quota refuses: the next process is told of it.
func TestAdvancedCronJobWhoseJobsAreRefused(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := steady.NewScene(t, nil)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "no-jobs"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}}}
	if _, err := steady.Core.CoreV1().ResourceQuotas(s.Namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cronJob := newCronJob("@every 30s")
	cronJobs := steady.workloads.AdvancedCronJobs(s.Namespace)
	if _, err := cronJobs.Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("ACJ-13.2: the annotation of a refused job", func() string {
		cronJob, err := cronJobs.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		last := cronJob.Status.LastScheduleTime
		refused, err := time.Parse(time.RFC3339, cronJob.Annotations[cronjob.RefusedAnnotation])
		if err != nil || last == nil || !last.Time.Equal(refused) {
			return fmt.Sprintf("annotations %v, status %+v", cronJob.Annotations, cronJob.Status)
		}
		return ""
	})
}

func TestWrongAdvancedCronJobsAreRefused(t *testing.T) {
	t.Parallel()
	s := steady.NewScene(t, nil)
	cronJobs := steady.workloads.AdvancedCronJobs(s.Namespace)
	for field, edit := range map[string]func(*v1alpha1.AdvancedCronJobSpec){
		"spec.schedule":                func(spec *v1alpha1.AdvancedCronJobSpec) { spec.Schedule = "often" },
		"spec.timeZone":                func(spec *v1alpha1.AdvancedCronJobSpec) { spec.TimeZone = new("Mars/Phobos") },
		"spec.template":                func(spec *v1alpha1.AdvancedCronJobSpec) { spec.Template = v1alpha1.CronJobTemplate{} },
		"spec.failedJobsHistoryLimit":  func(spec *v1alpha1.AdvancedCronJobSpec) { spec.FailedJobsHistoryLimit = new(int32(-1)) },
		"spec.startingDeadlineSeconds": func(spec *v1alpha1.AdvancedCronJobSpec) { spec.StartingDeadlineSeconds = new(int64(-1)) },
	} {
		cronJob := newCronJob("@daily")
		edit(&cronJob.Spec)
		_, err := cronJobs.Create(t.Context(), cronJob, metav1.CreateOptions{})
		if !apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid) && !apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueRequired) || !apierrors.IsInvalid(err) {
			t.Errorf("ACJ-14: %s: %v", field, err)
		}
	}
	if _, err := cronJobs.Create(t.Context(), newCronJob("@daily"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	another := []byte(`{"spec":{"template":{"jobTemplate":{"spec":{"completions":1}}}}}`)
	if _, err := cronJobs.Patch(t.Context(), "web", types.MergePatchType, another, metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("ACJ-14.2: another template: %v", err)
	}
}
