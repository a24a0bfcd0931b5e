// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// history is a cron job that two managers take turns at, whose clocks differ by up to 20 minutes. Its judge walks through
// the minutes, looks at the clock on the wall, and shares nothing with what reads schedules.
type history struct {
	*rapid.T
	plan    func(*Snapshot) *Plan
	violate func(rule, format string, args ...any)

	now     time.Time
	ahead   [2]time.Duration // by how much the clock of a manager is
	manager int              // who is at work
	wall    int              // of walls
	zone    *time.Location
	s       *Snapshot
	edits   []simulation.Edited
	created map[int64]time.Time // when it was, by the clock of who did, by scheduled time
}

// hoursOfChange are an evening before clocks are set in some of the zones, forward and back.
var hoursOfChange = []string{"2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2026-03-08T02:00:00Z", "2026-11-01T02:00:00Z", "2026-04-04T10:00:00Z", "2026-10-03T10:00:00Z", "2026-07-01T22:00:00Z"}

var zonesOfHistories = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"}

// TestHistories: each scheduled time is run at most once, whichever managers there are, and exactly once if nothing stands in
// its way. (ACJ-7.2, ACJ-8.1, ACJ-9, ACJ-13.2)
func TestHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		newHistory(t, NewPlan, func(rule, format string, args ...any) { t.Fatalf(rule+": "+format, args...) }).play()
	})
}

func newHistory(t *rapid.T, plan func(*Snapshot) *Plan, violate func(string, string, ...any)) *history {
	start, err := time.Parse(time.RFC3339, rapid.SampledFrom(hoursOfChange).Draw(t, "start"))
	if err != nil {
		t.Fatal(err)
	}
	h := &history{T: t, plan: plan, violate: violate, now: start, created: map[int64]time.Time{}}
	for i := range h.ahead {
		h.ahead[i] = time.Duration(rapid.IntRange(-600, 600).Draw(t, "seconds ahead")) * time.Second
	}
	h.s = &Snapshot{CronJob: aCronJob(start, rapid.Bool().Draw(t, "images"))}
	h.editSchedule()
	h.editZone()
	h.editRest()
	h.editImages()
	return h
}

// aCronJob is a cron job that creates Jobs, or ImageListPullJobs.
func aCronJob(created time.Time, images bool) *v1alpha1.AdvancedCronJob {
	template := v1alpha1.CronJobTemplate{JobTemplate: &batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}}}}}
	if images {
		template = v1alpha1.CronJobTemplate{ImageListPullJobTemplate: &v1alpha1.ImageListPullJobTemplateSpec{
			Spec: distributionv1alpha1.ImageListPullJobSpec{Images: []string{"busybox"}}}}
	}
	return &v1alpha1.AdvancedCronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "cron", CreationTimestamp: metav1.NewTime(created)},
		Spec:       v1alpha1.AdvancedCronJobSpec{Schedule: "@hourly", Template: template}}
}

func (h *history) play() {
	h.Repeat(map[string]func(*rapid.T){
		"reconcile": func(*rapid.T) { h.reconcile("") },
		"refused": func(t *rapid.T) {
			h.reconcile(rapid.SampledFrom([]string{"refused", "refused for long"}).Draw(t, "how"))
		},
		"ends after a claim": func(*rapid.T) { h.reconcile("ends") },
		"another manager": func(*rapid.T) {
			h.manager, h.s.Unstarted = 1-h.manager, time.Time{}
		},
		"a restart": func(*rapid.T) { h.s.Unstarted = time.Time{} },
		"time passes": func(t *rapid.T) {
			h.now = h.now.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
		},
		"the schedule":   func(*rapid.T) { h.editSchedule() },
		"the zone":       func(*rapid.T) { h.editZone() },
		"the rest":       func(*rapid.T) { h.editRest() },
		"jobs end":       func(*rapid.T) { h.end() },
		"the images":     func(*rapid.T) { h.editImages() },
		"jobs are gone":  func(*rapid.T) { h.s.Jobs, h.s.ImageListPullJobs = nil, nil },
		"a calm stretch": func(*rapid.T) { h.calm() },
	})
	h.calm()
}

func (h *history) editSchedule() {
	h.wall = rapid.IntRange(0, len(walls)-1).Draw(h.T, "schedule")
	h.edit(func(spec *v1alpha1.AdvancedCronJobSpec) { spec.Schedule = walls[h.wall].schedule })
}

func (h *history) editZone() {
	name := rapid.SampledFrom(zonesOfHistories).Draw(h.T, "zone")
	zone, err := time.LoadLocation(name)
	if err != nil {
		h.Fatal(err)
	}
	h.zone = zone
	h.edit(func(spec *v1alpha1.AdvancedCronJobSpec) { spec.TimeZone = &name })
}

func (h *history) editRest() {
	h.edit(func(spec *v1alpha1.AdvancedCronJobSpec) {
		spec.Paused = new(rapid.IntRange(0, 4).Draw(h.T, "paused") == 0)
		spec.ConcurrencyPolicy = rapid.SampledFrom([]v1alpha1.ConcurrencyPolicy{"", v1alpha1.AllowConcurrent, v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent}).Draw(h.T, "policy")
		spec.StartingDeadlineSeconds = rapid.SampledFrom([]*int64{nil, new(int64(30)), new(int64(3600))}).Draw(h.T, "deadline")
		spec.FailedJobsHistoryLimit = rapid.SampledFrom([]*int32{nil, new(int32(2))}).Draw(h.T, "limit of failed ones")
		spec.SuccessfulJobsHistoryLimit = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(1))}).Draw(h.T, "limit")
	})
}

// editImages has users change what a template of images says.
func (h *history) editImages() {
	if h.s.CronJob.Spec.Template.ImageListPullJobTemplate == nil {
		return
	}
	h.edit(func(spec *v1alpha1.AdvancedCronJobSpec) {
		t := spec.Template.ImageListPullJobTemplate
		t.Metadata.Labels = rapid.SampledFrom([]map[string]string{nil, {"a": "b"}}).Draw(h.T, "labels")
		t.Metadata.Annotations = rapid.SampledFrom([]map[string]string{nil, {"a": "b"}}).Draw(h.T, "annotations")
		t.Spec.Images = rapid.SampledFrom([][]string{{"busybox"}, {"busybox", "alpine"}}).Draw(h.T, "images")
	})
}

func (h *history) edit(edit func(*v1alpha1.AdvancedCronJobSpec)) {
	h.s.CronJob = h.s.CronJob.DeepCopy()
	before := h.s.CronJob.DeepCopy()
	edit(&h.s.CronJob.Spec)
	h.s.CronJob.Generation++
	h.edits = append(h.edits, simulation.Edited{Before: before, After: h.s.CronJob.DeepCopy()})
}

func (h *history) annotate(key, value string) {
	annotations := maps.Clone(h.s.CronJob.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[key] = value; value == "" {
		delete(annotations, key)
	}
	h.s.CronJob.Annotations = annotations
}

func (h *history) end() {
	for i, job := range h.s.Jobs {
		h.s.Jobs[i] = job.DeepCopy()
		h.s.Jobs[i].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	}
	for i, job := range h.s.ImageListPullJobs {
		h.s.ImageListPullJobs[i] = job.DeepCopy()
		h.s.ImageListPullJobs[i].Status = distributionv1alpha1.ImageListPullJobStatus{CompletionTime: &metav1.Time{Time: h.now}, Desired: 1, Succeeded: 1}
	}
}

// clock is what the clock of the manager at work shows.
func (h *history) clock() time.Time { return h.now.Add(h.ahead[h.manager]) }

// reconcile has the manager at work apply a plan as far as it comes, and tells whether it has created a job.
func (h *history) reconcile(how string) bool {
	h.s.CronJob = h.s.CronJob.DeepCopy()
	h.s.Now = h.clock()
	plan := h.plan(h.s)
	if plan.Schedule != "" {
		h.annotate(ScheduleAnnotation, plan.Schedule)
	}
	if !plan.Created.IsZero() {
		h.annotate(RefusedAnnotation, "")
	}
	h.remove(plan.Replace)
	if plan.Status != nil {
		h.s.CronJob.Status = *plan.Status
	}
	if h.remove(plan.Clean); plan.Start == nil {
		return false
	}
	at := plan.Start.Scheduled
	h.s.Unstarted = at
	switch how {
	case "refused for long":
		h.annotate(RefusedAnnotation, at.Format(time.RFC3339))
		return false
	case "refused":
		return false
	case "ends":
		h.s.Unstarted = time.Time{}
		return false
	}
	if _, found := h.created[at.Unix()]; found {
		h.violate("ACJ-13.2", "%s is run again", at)
	}
	h.created[at.Unix()] = h.s.Now
	if uid := types.UID(fmt.Sprint("uid-", len(h.created))); plan.Start.Job != nil {
		plan.Start.Job.UID = uid
		h.s.Jobs = append(slices.Clone(h.s.Jobs), plan.Start.Job)
	} else {
		plan.Start.ImageListPullJob.UID = uid
		h.s.ImageListPullJobs = append(slices.Clone(h.s.ImageListPullJobs), plan.Start.ImageListPullJob)
	}
	h.s.Unstarted = time.Time{}
	h.annotate(RefusedAnnotation, "")
	return true
}

func (h *history) remove(children []Child) {
	h.s.Jobs, h.s.ImageListPullJobs = without(h.s.Jobs, children), without(h.s.ImageListPullJobs, children)
}

func without[O metav1.Object](jobs []O, children []Child) []O {
	return slices.DeleteFunc(slices.Clone(jobs), func(job O) bool {
		return slices.ContainsFunc(children, func(c Child) bool { return c.Reference.UID == job.GetUID() })
	})
}

// calm lets up to two hours pass in which nothing stands in the way, with a reconcile at each minute. Times in the first minute
// do not count: a change of the schedule may yet lie ahead of a clock. Times that other clocks have come to do not count either.
func (h *history) calm() {
	h.edit(func(spec *v1alpha1.AdvancedCronJobSpec) { spec.Paused = new(false) })
	h.end()
	for times := 0; h.reconcile(""); times++ {
		if h.end(); times == 10 {
			h.violate("ACJ-10", "it does not settle at %s", h.now)
			return
		}
	}
	from := h.clock().Add(time.Minute)
	if created := h.s.CronJob.CreationTimestamp.Time; created.After(from) {
		from = created
	}
	if last := h.s.CronJob.Status.LastScheduleTime; last != nil && last.After(from) {
		from = last.Time
	}
	for range rapid.IntRange(1, 120).Draw(h.T, "minutes") {
		h.now = h.now.Add(h.clock().Truncate(time.Minute).Add(time.Minute).Sub(h.clock()))
		for range 2 {
			if h.reconcile("") {
				h.end()
			}
		}
	}
	begin := from.UTC().Truncate(time.Minute).Add(-3 * time.Hour) // no clock goes back further
	for _, at := range walls[h.wall].due(h.zone, begin, h.clock()) {
		if !at.After(from) {
			continue
		}
		if created, found := h.created[at.Unix()]; !found || created.After(at) {
			h.violate("ACJ-9", "%q in %s is due at %s, and was run at %s, by %s", walls[h.wall].schedule, h.zone, at.In(h.zone), created, h.clock())
		}
	}
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	var edits []simulation.Edited
	for seed := range 30 {
		rapid.Custom(func(t *rapid.T) bool {
			h := newHistory(t, NewPlan, func(string, string, ...any) {})
			h.play()
			edits = append(edits, h.edits...)
			return true
		}).Example(seed)
	}
	editing.CheckEdits(t, editing.Subject[v1alpha1.AdvancedCronJob]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"template.jobTemplate":          `{"template":{"jobTemplate":{"metadata":{"labels":{"a":"b"}}}}}`,
		"template.broadcastJobTemplate": `{"template":{"broadcastJobTemplate":{"metadata":{"labels":{"a":"b"}}}}}`,
	}}, func(r *rand.Rand) simulation.Object {
		return aCronJob(time.Time{}, r.IntN(2) == 0)
	}, edits)
}

// TestHistoriesFindBugs makes sure that the judge of histories sees something.
func TestHistoriesFindBugs(t *testing.T) {
	t.Parallel()
	seeing := func(change func(*Snapshot)) func(*Snapshot) *Plan {
		return func(s *Snapshot) *Plan {
			other := *s
			other.CronJob = s.CronJob.DeepCopy()
			change(&other)
			return NewPlan(&other)
		}
	}
	for _, bug := range []struct {
		name, breaks string
		plan         func(*Snapshot) *Plan
	}{
		{"the last time is forgotten", "ACJ-13.2", seeing(func(s *Snapshot) {
			s.CronJob.Status.LastScheduleTime, s.Jobs, s.ImageListPullJobs = nil, nil, nil
		})},
		{"the zone is not read", "ACJ-9", seeing(func(s *Snapshot) { s.CronJob.Spec.TimeZone = nil })},
		{"times come a minute late", "ACJ-9", seeing(func(s *Snapshot) { s.Now = s.Now.Add(-time.Minute) })},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			found := false
			for seed := range 30 {
				rapid.Custom(func(t *rapid.T) bool {
					newHistory(t, bug.plan, func(rule, _ string, _ ...any) { found = found || rule == bug.breaks }).play()
					return true
				}).Example(seed)
				if found {
					return
				}
			}
			t.Errorf("no violation of %s", bug.breaks)
		})
	}
}
