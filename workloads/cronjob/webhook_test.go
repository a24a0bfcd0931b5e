// SPDX-License-Identifier: Apache-2.0

package cronjob_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// TestValidate shows what is said of the cron jobs in testdata/validate.txt, whose lines newCronJob has. Of an update, the line "to" stands between
// what is stored and what comes. (ACJ-14)
func TestValidate(t *testing.T) {
	datadriven.RunTest(t, "testdata/validate.txt", func(t *testing.T, d *datadriven.TestData) string {
		name := "web"
		for _, arg := range d.CmdArgs {
			name = strings.Join(arg.Vals, "")
		}
		var out strings.Builder
		show := func(errs field.ErrorList) {
			for _, err := range errs {
				fmt.Fprintln(&out, err)
			}
		}
		if stored, changed, is := strings.Cut(d.Input, "\nto\n"); is {
			show(cronjob.ValidateUpdate(newCronJob(t, name, changed), newCronJob(t, name, stored)))
		} else {
			show(cronjob.ValidateCreate(newCronJob(t, name, d.Input)))
		}
		return out.String()
	})
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
