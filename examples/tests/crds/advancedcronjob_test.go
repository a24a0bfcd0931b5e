// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// cronJobYAML is an AdvancedCronJob with these lines in its spec, beside schedule and template if the lines do not give
// those themselves.
func cronJobYAML(name, lines string) string {
	const pods = "template: {spec: {restartPolicy: Never, containers: [{name: main, image: backup}]}}"
	for _, field := range []string{"schedule: '*/5 * * * *'", "template: {jobTemplate: {spec: {" + pods + "}}}"} {
		if given, _, _ := strings.Cut(field, ":"); !strings.Contains("\n"+lines, "\n"+given+":") {
			lines += "\n" + field
		}
	}
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: AdvancedCronJob\nmetadata: {name: " + name + ", namespace: default}\nspec:\n  " +
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n  ")
}

// The rules of the definition and the webhook refuse the same.
func TestAdvancedCronJob(t *testing.T) {
	v := newValidator(t, "advancedcronjobs.apps.kruise.io", "v1alpha1")
	const broadcast = "template: {broadcastJobTemplate: {metadata: {labels: {a: b}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: backup}]}}}}}"
	for _, test := range []struct{ name, object, spec, want string }{
		{"the least", "web", "", ""},
		{"everything", "web-1", "timeZone: Asia/Shanghai\nstartingDeadlineSeconds: 10\nconcurrencyPolicy: Forbid\npaused: true\nsuccessfulJobsHistoryLimit: 0\nfailedJobsHistoryLimit: 0\n" + broadcast, ""},
		{"a schedule with a zone", "web", "schedule: TZ=Asia/Shanghai 0 10 * * ?", ""},
		{"ACJ-14: a dot in the name", "web.1", "", "<nil>: metadata.name must be letters, digits and dashes, 63 at most: the names of the jobs begin with it"},
		{"ACJ-14: no schedule", "web", "schedule: ''", "spec.schedule: must say when jobs are due, such as '0 10 * * *'"},
		{"ACJ-14: an empty zone", "web", "timeZone: ''", "spec.timeZone: must name a time zone of the IANA database, such as Etc/UTC, or be absent"},
		{"ACJ-14: a local zone", "web", "timeZone: lOCAL", "spec.timeZone: must not be Local: name a time zone, such as Etc/UTC, or leave the field out"},
		{"ACJ-14: two zones", "web", "schedule: CRON_TZ=UTC 0 0 * * *\ntimeZone: Etc/UTC", "spec.timeZone: must be absent where the schedule names a time zone: keep one of the two"},
		{"ACJ-14: a negative deadline", "web", "startingDeadlineSeconds: -1", "spec.startingDeadlineSeconds: must be 0 or more"},
		{"ACJ-14: a negative limit", "web", "successfulJobsHistoryLimit: -1", "spec.successfulJobsHistoryLimit: must be 0 or more"},
		{"ACJ-14: another negative limit", "web", "failedJobsHistoryLimit: -1", "spec.failedJobsHistoryLimit: must be 0 or more"},
		{"ACJ-14.1: no template", "web", "template: {}", "spec.template: must hold jobTemplate or broadcastJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"},
		{"ACJ-14.1: another kind", "web", "template: {imageListPullJobTemplate: {spec: {}}}", "spec.template: must hold jobTemplate or broadcastJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"},
		{"ACJ-14.1: two templates", "web", strings.Replace(broadcast, "{broad", "{jobTemplate: {}, broad", 1), "spec.template: must hold jobTemplate or broadcastJobTemplate, not both"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := cronJobYAML(test.object, test.spec)
			got := v.judge(t, object, "")
			check(t, want, got)
			agree(t, object, got, cronjob.ValidateCreate(read[v1alpha1.AdvancedCronJob](t, object)))
		})
	}
}

func TestAdvancedCronJobWithoutSpec(t *testing.T) {
	v := newValidator(t, "advancedcronjobs.apps.kruise.io", "v1alpha1")
	check(t, []string{"spec: an AdvancedCronJob needs a spec with a schedule and a template"},
		v.judge(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: AdvancedCronJob, metadata: {name: web}}", ""))
}

// ACJ-14, ACJ-14.2: whether a schedule can be read, and whether a template changes, is the webhook's alone.
func TestAdvancedCronJobRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "advancedcronjobs.apps.kruise.io", "v1alpha1")
	for _, spec := range []string{"schedule: often", "timeZone: Mars/Phobos", "template: {jobTemplate: {spec: {template: {spec: {}}}}}"} {
		object := cronJobYAML("web", spec)
		check(t, nil, v.judge(t, object, ""))
		if errs := cronjob.ValidateCreate(read[v1alpha1.AdvancedCronJob](t, object)); len(errs) == 0 {
			t.Errorf("%s: the webhook takes it", spec)
		}
	}
}
