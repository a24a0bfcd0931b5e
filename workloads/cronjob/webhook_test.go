// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestDefault(t *testing.T) {
	for name, template := range map[string]string{"jobTemplate": jobTemplate, "broadcastJobTemplate": broadcastTemplate} {
		pod := func(c *v1alpha1.AdvancedCronJob) (policy, pull string) {
			spec := c.Spec.Template.JobTemplate
			if spec == nil {
				t := c.Spec.Template.BroadcastJobTemplate.Spec.Template.Spec
				return string(t.DNSPolicy), string(t.Containers[0].ImagePullPolicy)
			}
			return string(spec.Spec.Template.Spec.DNSPolicy), string(spec.Spec.Template.Spec.Containers[0].ImagePullPolicy)
		}
		c := newCronJob(t, "web", "schedule: '@daily'", template)
		cronjob.Default(c, nil, cronjob.DefaultOptions{})
		spec := &c.Spec
		if spec.ConcurrencyPolicy != v1alpha1.AllowConcurrent || *spec.Paused || *spec.SuccessfulJobsHistoryLimit != 3 || *spec.FailedJobsHistoryLimit != 1 ||
			spec.StartingDeadlineSeconds != nil || spec.TimeZone != nil {
			t.Errorf("ACJ-14.2: %s: defaults %+v", name, spec)
		}
		if dns, pull := pod(c); dns != "ClusterFirst" || pull != "Always" {
			t.Errorf("ACJ-14.2: %s: the pod template has %q and %q", name, dns, pull)
		}
		again := newCronJob(t, "web", "schedule: '@daily'", template)
		cronjob.Default(again, c, cronjob.DefaultOptions{})
		if errs := cronjob.ValidateUpdate(again, c); len(errs) > 0 || !cmp.Equal(again, c) {
			t.Errorf("ACJ-14.2: %s: the same manifest again: %v\n%s", name, errs, cmp.Diff(c, again))
		}
		given := newCronJob(t, "web", "schedule: '@daily'", "concurrencyPolicy: Forbid", "paused: true", "successfulJobsHistoryLimit: 0", "failedJobsHistoryLimit: 0", template)
		want := given.DeepCopy()
		cronjob.Default(given, nil, cronjob.DefaultOptions{TemplateNoDefaults: true})
		if diff := cmp.Diff(want, given); diff != "" {
			t.Errorf("ACJ-14.2: %s: what is given has changed (-want +got):\n%s", name, diff)
		}
	}
	cronjob.Default(&v1alpha1.AdvancedCronJob{}, nil, cronjob.DefaultOptions{}) // without a template
}

// ACJ-14.2: what is said of the completion of images is all that is said: then the jobs get their own defaults.
func TestDefaultOfImages(t *testing.T) {
	for _, test := range []struct{ name, given, want string }{
		{"nothing is said", "completionPolicy: {}", "pullPolicy: {timeoutSeconds: 600, backoffLimit: 3}, imagePullPolicy: IfNotPresent, completionPolicy: {type: Always}"},
		{"some of it", "pullPolicy: {timeoutSeconds: 60}, imagePullPolicy: Always, completionPolicy: {activeDeadlineSeconds: 90}",
			"pullPolicy: {timeoutSeconds: 60, backoffLimit: 3}, imagePullPolicy: Always, completionPolicy: {type: Always, activeDeadlineSeconds: 90}"},
		{"the type", "completionPolicy: {type: Always}", "completionPolicy: {type: Always}"},
	} {
		got := newCronJob(t, "web", "schedule: '@daily'", strings.Replace(imageTemplate, "completionPolicy: {}", test.given, 1))
		want := newCronJob(t, "web", "schedule: '@daily'\nconcurrencyPolicy: Replace\npaused: false\nsuccessfulJobsHistoryLimit: 3\nfailedJobsHistoryLimit: 1",
			strings.Replace(imageTemplate, "completionPolicy: {}", test.want, 1))
		cronjob.Default(got, nil, cronjob.DefaultOptions{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestValidateCreate(t *testing.T) {
	const good = "schedule: '*/5 * * * *'\n"
	for _, test := range []struct{ name, object, spec, want string }{
		{"good", "web", good, ""},
		{"a BroadcastJob", "web", good + broadcastTemplate, ""},
		{"everything", "Web-1", good + "timeZone: Etc/UTC\nstartingDeadlineSeconds: 1\nconcurrencyPolicy: Replace\npaused: true\nsuccessfulJobsHistoryLimit: 0\nfailedJobsHistoryLimit: 0", ""},
		{"a schedule with a zone", "web", "schedule: TZ=Asia/Shanghai 0 10 * * ?", ""},
		{"ACJ-14: no name", "", good, "metadata.name"},
		{"ACJ-14: a dot in the name", "we.b", good, "metadata.name"},
		{"ACJ-14: a long name", strings.Repeat("a", 53), good, "metadata.name"},
		{"ACJ-14: no schedule", "web", "schedule: ''", "spec.schedule"},
		{"ACJ-14: the longest name", strings.Repeat("a", 52), good, ""},
		{"ACJ-14: back in time", "web", "schedule: '@every -1h'", "spec.schedule"},
		{"ACJ-14: at once", "web", "schedule: '@every 0s'", "spec.schedule"},
		{"ACJ-14: too often", "web", "schedule: '@every 1ms'", "spec.schedule"},
		{"ACJ-14: never", "web", "schedule: '0 0 31 2 *'", "spec.schedule"},
		{"ACJ-14: every four years", "web", "schedule: '0 0 29 2 *'", ""},
		{"ACJ-14.3: restarted always", "web", good + strings.Replace(jobTemplate, "Never", "Always", 1), "spec.template.jobTemplate.spec.template.spec.restartPolicy"},
		{"ACJ-14.3: restarted always by default", "web", good + strings.Replace(broadcastTemplate, "restartPolicy: Never, ", "", 1), "spec.template.broadcastJobTemplate.spec.template.spec.restartPolicy"},
		{"ACJ-14.3: negative numbers of a Job", "web", good + strings.Replace(jobTemplate, "spec: {template", "spec: {activeDeadlineSeconds: -1, backoffLimit: -1, completions: -1, parallelism: -1, ttlSecondsAfterFinished: -1, template", 1),
			"spec.template.jobTemplate.spec.activeDeadlineSeconds spec.template.jobTemplate.spec.backoffLimit spec.template.jobTemplate.spec.completions spec.template.jobTemplate.spec.parallelism spec.template.jobTemplate.spec.ttlSecondsAfterFinished"},
		{"ACJ-14.3: negative numbers of a BroadcastJob", "web", good + strings.Replace(broadcastTemplate, "spec: {template", "spec: {failurePolicy: {restartLimit: -1}, completionPolicy: {activeDeadlineSeconds: -1, ttlSecondsAfterFinished: -1}, template", 1),
			"spec.template.broadcastJobTemplate.spec.completionPolicy.activeDeadlineSeconds spec.template.broadcastJobTemplate.spec.completionPolicy.ttlSecondsAfterFinished spec.template.broadcastJobTemplate.spec.failurePolicy.restartLimit"},
		{"ACJ-14.3: a job that does not end, and what comes after its end", "web", good + strings.Replace(broadcastTemplate, "spec: {template", "spec: {completionPolicy: {type: Never, ttlSecondsAfterFinished: 5}, template", 1),
			"spec.template.broadcastJobTemplate.spec.completionPolicy.type"},
		{"ACJ-14: seconds", "web", "schedule: '* * * * * *'", "spec.schedule"},
		{"ACJ-14: a zone and nothing else", "web", "schedule: TZ=UTC", "spec.schedule"},
		{"ACJ-14: an empty zone", "web", good + "timeZone: ''", "spec.timeZone"},
		{"ACJ-14: a local zone", "web", good + "timeZone: lOCAL", "spec.timeZone"},
		{"ACJ-14: an unknown zone", "web", good + "timeZone: Mars/Phobos", "spec.timeZone"},
		{"ACJ-14: a zone of another folder", "web", good + "timeZone: ../Etc/UTC", "spec.timeZone"},
		{"ACJ-14: two zones", "web", "schedule: TZ=UTC 0 0 * * *\ntimeZone: Etc/UTC", "spec.timeZone"},
		{"ACJ-14: a negative deadline", "web", good + "startingDeadlineSeconds: -1", "spec.startingDeadlineSeconds"},
		{"ACJ-14: negative limits", "web", good + "successfulJobsHistoryLimit: -1\nfailedJobsHistoryLimit: -1", "spec.successfulJobsHistoryLimit spec.failedJobsHistoryLimit"},
		{"ACJ-14: an unknown policy", "web", good + "concurrencyPolicy: Queue", "spec.concurrencyPolicy"},
		{"ACJ-14.1: no template", "web", good + "template: {}", "spec.template"},
		{"ACJ-14.1: two templates", "web", good + "template: {jobTemplate: {}, broadcastJobTemplate: {spec: {template: {}}}}", "spec.template"},
		{"ACJ-14.1: images and a job", "web", good + "template: {jobTemplate: {}, imageListPullJobTemplate: {spec: {images: [base]}}}", "spec.template"},
		{"ACJ-14.1: images and a BroadcastJob", "web", good + "template: {broadcastJobTemplate: {spec: {template: {}}}, imageListPullJobTemplate: {spec: {images: [base]}}}", "spec.template"},
		{"ACJ-14.4: images", "web", good + imageTemplate, ""},
		{"ACJ-14.4: one list after another", "web", good + "concurrencyPolicy: Forbid\n" + imageTemplate, ""},
		{"ACJ-14.4: two lists at a time", "web", good + "concurrencyPolicy: Allow\n" + imageTemplate, "spec.concurrencyPolicy"},
		{"ACJ-14.4: an unknown policy", "web", good + "concurrencyPolicy: Queue\n" + imageTemplate, "spec.concurrencyPolicy"},
		{"ACJ-14.4: an image that cannot be read", "web", good + strings.Replace(imageTemplate, "tools", "'not an image'", 1), "spec.template.imageListPullJobTemplate.spec.images[1]"},
		{"ACJ-14.4: nodes by name and by pods", "web", good + strings.Replace(imageTemplate, "images:", "selector: {names: [a]}, podSelector: {}, images:", 1), "spec.template.imageListPullJobTemplate.spec.podSelector"},
		{"ACJ-14.4: a deadline before a pull is given up", "web", good + strings.Replace(imageTemplate, "completionPolicy: {", "pullPolicy: {timeoutSeconds: 60}, completionPolicy: {type: Always, activeDeadlineSeconds: 59", 1),
			"spec.template.imageListPullJobTemplate.spec.completionPolicy.activeDeadlineSeconds"},
		{"ACJ-14.4: a deadline when a pull is given up", "web", good + strings.Replace(imageTemplate, "completionPolicy: {", "pullPolicy: {timeoutSeconds: 60}, completionPolicy: {type: Always, activeDeadlineSeconds: 60", 1), ""},
		{"ACJ-14.4: a deadline, and the jobs get the other defaults", "web", good + strings.Replace(imageTemplate, "completionPolicy: {", "completionPolicy: {type: Always, activeDeadlineSeconds: 5", 1), ""},
		{"ACJ-14.4: a deadline of a day", "web", good + strings.Replace(imageTemplate, "completionPolicy: {", "completionPolicy: {activeDeadlineSeconds: 86400", 1), ""},
		{"ACJ-14: no containers", "web", good + "template: {jobTemplate: {spec: {template: {spec: {restartPolicy: OnFailure}}}}}", "spec.template.jobTemplate.spec.template.spec.containers"},
		{"ACJ-14: a volume that is not there", "web", good + "template: {broadcastJobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b, volumeMounts: [{name: c, mountPath: /c}]}]}}}}}",
			"spec.template.broadcastJobTemplate.spec.template.spec.containers[0].volumeMounts[0].name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fields []string
			for _, err := range cronjob.ValidateCreate(newCronJob(t, test.object, test.spec)) {
				fields = append(fields, err.Field)
			}
			if got := strings.Join(fields, " "); got != test.want {
				t.Errorf("wrong: %q, want %q", got, test.want)
			}
		})
	}
	errs := cronjob.ValidateCreate(newCronJob(t, "web", good, "template: {}"))
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "jobs of other kinds, such as ImagePullJob, cannot be scheduled") {
		t.Errorf("ACJ-14.1: %v", errs)
	}
}

func TestValidateUpdate(t *testing.T) {
	stored := newCronJob(t, "web", "schedule: '*/5 * * * *'")
	for _, test := range []struct{ name, spec, want string }{
		{"ACJ-14.2: all that may change", "schedule: '@daily'\ntimeZone: Etc/UTC\nstartingDeadlineSeconds: 1\nconcurrencyPolicy: Replace\npaused: true\nsuccessfulJobsHistoryLimit: 0\nfailedJobsHistoryLimit: 0", ""},
		{"ACJ-14.2: the template", "schedule: '@daily'\ntemplate: {jobTemplate: {spec: {" + strings.Replace(podTemplate, "image: backup", "image: other", 1) + "}}}", "spec.template"},
		{"ACJ-14.2: its kind", "schedule: '@daily'\n" + broadcastTemplate, "spec.template"},
		{"ACJ-14: what is wrong with a new one", "schedule: often", "spec.schedule"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fields []string
			for _, err := range cronjob.ValidateUpdate(newCronJob(t, "web", test.spec), stored) {
				fields = append(fields, err.Field)
			}
			if got := strings.Join(fields, " "); got != test.want {
				t.Errorf("wrong: %q, want %q", got, test.want)
			}
		})
	}
	images := newCronJob(t, "web", "schedule: '@daily'", imageTemplate)
	for _, test := range []struct{ name, spec, want string }{
		{"ACJ-14.2: other images", strings.Replace(imageTemplate, "tools", "tools:2", 1), ""},
		{"ACJ-14.2: other labels of the jobs", strings.Replace(imageTemplate, "blue", "red", 1), ""},
		{"ACJ-14.4: an image twice", strings.Replace(imageTemplate, "tools", "base", 1), "spec.template.imageListPullJobTemplate.spec.images[1]"},
		{"ACJ-14.4: a policy that is wrong", imageTemplate + "\nconcurrencyPolicy: Allow", "spec.concurrencyPolicy"},
		{"ACJ-14.2: another kind", jobTemplate, "spec.template"},
		{"ACJ-14.2: a kind more", strings.Replace(imageTemplate, "template: {", "template: {jobTemplate: {}, ", 1), "spec.template"},
	} {
		var fields []string
		for _, err := range cronjob.ValidateUpdate(newCronJob(t, "web", "schedule: '@daily'", test.spec), images) {
			fields = append(fields, err.Field)
		}
		if got := strings.Join(fields, " "); got != test.want {
			t.Errorf("%s: wrong: %q, want %q", test.name, got, test.want)
		}
	}
	wrong := newCronJob(t, "web", "schedule: often")
	labelled := wrong.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	if errs := cronjob.ValidateUpdate(labelled, wrong); len(errs) > 0 {
		t.Errorf("a label of a wrong one: %v", errs)
	}
}

func TestWebhook(t *testing.T) {
	encode := func(spec ...string) []byte {
		c := newCronJob(t, "web", spec...)
		c.APIVersion, c.Kind = v1alpha1.SchemeGroupVersion.String(), "AdvancedCronJob"
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	request := func(object, old []byte) *admissionv1.AdmissionRequest {
		r := &admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("AdvancedCronJob")),
			Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object}}
		if old != nil {
			r.Operation, r.OldObject.Raw = admissionv1.Update, old
		}
		return r
	}
	webhook := &cronjob.Webhook{}
	good, other := encode("schedule: '@daily'"), encode("schedule: '@daily'", broadcastTemplate)
	for _, test := range []struct {
		name    string
		request *admissionv1.AdmissionRequest
		code    int32 // 0: allowed
	}{
		{"create", request(good, nil), 0},
		{"ACJ-14: create a wrong one", request(encode("schedule: often"), nil), 422},
		{"update", request(encode("schedule: '@hourly'"), good), 0},
		{"ACJ-14.2: another template", request(other, good), 422},
		{"no object", request([]byte("{"), nil), 400},
		{"another kind", &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte("{")}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := webhook.Validate(t.Context(), test.request)
			if response.Allowed != (test.code == 0) || !response.Allowed && response.Result.Code != test.code {
				t.Errorf("answered %+v", response)
			}
		})
	}
	for off, want := range map[bool]bool{false: true, true: false} {
		response := (&cronjob.Webhook{TemplateNoDefaults: off}).Default(t.Context(), request(good, nil))
		if patch := string(response.Patch); !response.Allowed || strings.Contains(patch, "terminationGracePeriodSeconds") != want || !strings.Contains(patch, "failedJobsHistoryLimit") {
			t.Errorf("ACJ-14.2: TemplateNoDefaults %v: %+v, patch %s", off, response, patch)
		}
	}
	if got, want := slices.Sorted(maps.Keys(webhook.Handlers())), []string{cronjob.MutatePath, cronjob.ValidatePath}; !slices.Equal(got, want) {
		t.Errorf("served: %v, want %v", got, want)
	}
}
