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
	const (
		one  = "spec.template: must hold one of jobTemplate, broadcastJobTemplate and imageListPullJobTemplate"
		list = "spec.template.imageListPullJobTemplate.spec"
	)
	images := func(lines string) string {
		return "template: {imageListPullJobTemplate: {spec: {images: [a], " + lines + "}}}"
	}
	for _, test := range []struct{ name, object, spec, want string }{
		{"the least", "web", "", ""},
		{"everything", "web-1", "timeZone: Asia/Shanghai\nstartingDeadlineSeconds: 10\nconcurrencyPolicy: Forbid\npaused: true\nsuccessfulJobsHistoryLimit: 0\nfailedJobsHistoryLimit: 0\n" + broadcast, ""},
		{"a schedule with a zone", "web", "schedule: TZ=Asia/Shanghai 0 10 * * ?", ""},
		{"ACJ-14: a dot in the name", "web.1", "", "<nil>: metadata.name must be letters, digits and dashes, 63 at most: the names of the jobs begin with it"},
		{"ACJ-14: no schedule", "web", "schedule: ''", "spec.schedule: must say when jobs are due, such as '0 10 * * *'"},
		{"ACJ-14: an empty zone", "web", "timeZone: ''", "spec.timeZone: must name a time zone of the IANA database, such as Etc/UTC, or be absent"},
		{"ACJ-14: a local zone", "web", "timeZone: lOCAL", "spec.timeZone: must not be Local: name a time zone, such as Etc/UTC, or leave the field out"},
		{"ACJ-14: two zones", "web", "schedule: CRON_TZ=UTC 0 0 * * *\ntimeZone: Etc/UTC", "spec.timeZone: must be absent if the schedule names a time zone: keep one of the two"},
		{"ACJ-14: a negative deadline", "web", "startingDeadlineSeconds: -1", "spec.startingDeadlineSeconds: must be 0 or more"},
		{"ACJ-14: a negative limit", "web", "successfulJobsHistoryLimit: -1", "spec.successfulJobsHistoryLimit: must be 0 or more"},
		{"ACJ-14: another negative limit", "web", "failedJobsHistoryLimit: -1", "spec.failedJobsHistoryLimit: must be 0 or more"},
		{"ACJ-14.1: no template", "web", "template: {}", "spec.template: must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"},
		{"ACJ-14.1: another kind", "web", "template: {imagePullJobTemplate: {spec: {}}}", "spec.template: must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"},
		{"ACJ-14.4: images", "web", images("completionPolicy: {type: Always, activeDeadlineSeconds: 86400}"), ""},
		{"ACJ-14.4: one list after another", "web", "concurrencyPolicy: Forbid\n" + images("completionPolicy: {}"), ""},
		{"ACJ-14.4: two lists at a time", "web", "concurrencyPolicy: Allow\n" + images("completionPolicy: {}"), "spec.concurrencyPolicy: must be Replace or Forbid with imageListPullJobTemplate, is Allow"},
		{"ACJ-14.4: no spec", "web", "template: {imageListPullJobTemplate: {}}", list + ": must say which images to pull"},
		{"ACJ-14.4: no image", "web", strings.Replace(images("completionPolicy: {}"), "[a]", "[]", 1), list + ".images: must name an image"},
		{"ACJ-14.4: too many images", "web", strings.Replace(images("completionPolicy: {}"), "[a]", "["+strings.Repeat("a, ", 255)+"a]", 1), list + ".images: must hold at most 255 images"},
		{"ACJ-14.4: nodes by name and by pods", "web", images("completionPolicy: {}, selector: {names: [b]}, podSelector: {}"), list + ".podSelector: must be absent if selector is given: keep one of the two"},
		{"ACJ-14.4: without an end", "web", images("completionPolicy: {type: Never}"), list + ".completionPolicy.type: must be Always, is Never"},
		{"ACJ-14.4: more than a day", "web", images("completionPolicy: {activeDeadlineSeconds: 86401}"), list + ".completionPolicy.activeDeadlineSeconds: must be at most 86400, a day"},
		{"ACJ-14.4: a time to live", "web", images("completionPolicy: {ttlSecondsAfterFinished: 1}"),
			list + ".completionPolicy.ttlSecondsAfterFinished: must be absent: successfulJobsHistoryLimit and failedJobsHistoryLimit say how many jobs stay"},
		{"ACJ-14.1: images and a job", "web", strings.Replace(images("completionPolicy: {}"), "{image", "{jobTemplate: {}, image", 1), one},
		{"ACJ-14.1: two templates", "web", strings.Replace(broadcast, "{broad", "{jobTemplate: {}, broad", 1), one},
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
