// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
)

// ILP-1: the defaults that are written.
func TestDefault(t *testing.T) {
	for spec, want := range map[string]string{
		"": "{completionPolicy: {type: Always}, pullPolicy: {timeoutSeconds: 600, backoffLimit: 3}}",
		"{parallelism: 0, completionPolicy: {type: Never}, pullPolicy: {backoffLimit: 0}}": "{parallelism: 0, completionPolicy: {type: Never}, pullPolicy: {timeoutSeconds: 600, backoffLimit: 0}}",
	} {
		got := newJob(t, spec)
		Default(got)
		if diff := cmp.Diff(newJob(t, want), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", spec, diff)
		}
	}
}

func request(t *testing.T, job, old *v1alpha1.ImageListPullJob) *admissionv1.AdmissionRequest {
	t.Helper()
	r := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, Name: "warm", Namespace: "default",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "ImageListPullJob"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "imagelistpulljobs"},
	}
	encode := func(job *v1alpha1.ImageListPullJob) (raw runtime.RawExtension) {
		data, err := json.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		raw.Raw = data
		return raw
	}
	r.Object = encode(job)
	if old != nil {
		r.Operation, r.OldObject = admissionv1.Update, encode(old)
	}
	return r
}

func TestWebhook(t *testing.T) {
	right, wrong, ended := newJob(t, ""), newJob(t, "images: []"), newJob(t, "")
	ended.Status.CompletionTime = at(0)
	for _, test := range []struct {
		name     string
		noAgents bool
		job, old *v1alpha1.ImageListPullJob
		want     int32 // 0: allowed
		warns    bool
	}{
		{"ILP-2: a right one is created", false, right, nil, 0, false},
		{"ILP-2: a wrong one is not", false, wrong, nil, http.StatusUnprocessableEntity, false},
		{"ILP-2: the images may change", false, newJob(t, "images: [c]"), right, 0, false},
		{"ILP-2: a change to a wrong one", false, wrong, right, http.StatusUnprocessableEntity, false},
		{"ILP-2: no agents", true, right, nil, http.StatusForbidden, false},
		{"ILP-2: no agents, and the spec stays", true, right, right, 0, false},
		{"ILP-4: a change of a job that is over", false, newJob(t, "images: [c]"), ended, 0, true},
		{"ILP-4: of how long it stays", false, newJob(t, "completionPolicy: {ttlSecondsAfterFinished: 9}"), ended, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := (&Webhook{NoAgents: test.noAgents}).Validate(t.Context(), request(t, test.job, test.old))
			code := int32(0)
			if response.Result != nil {
				code = response.Result.Code
			}
			if code != test.want || response.Allowed != (test.want == 0) || len(response.Warnings) > 0 != test.warns {
				t.Errorf("code %d, want %d: %+v", code, test.want, response)
			}
		})
	}
	if response := (&Webhook{}).Default(t.Context(), request(t, right, nil)); !response.Allowed || len(response.Patch) == 0 {
		t.Errorf("ILP-1: no defaults: %+v", response)
	}
	if got, want := slices.Sorted(maps.Keys((&Webhook{}).Handlers())), []string{MutatePath, ValidatePath}; !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
}

func TestRolloutStatus(t *testing.T) {
	for _, test := range []struct {
		status v1alpha1.ImageListPullJobStatus
		want   rollout.Phase
	}{
		{v1alpha1.ImageListPullJobStatus{}, rollout.Unobserved},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), Desired: 2, Completed: 1, Succeeded: 1}, rollout.InProgress},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), CompletionTime: at(0), Desired: 2, Completed: 2, Succeeded: 2}, rollout.Complete},
		{v1alpha1.ImageListPullJobStatus{StartTime: at(0), CompletionTime: at(0), Desired: 2, Completed: 2, Succeeded: 1}, rollout.Failed},
	} {
		if got := RolloutStatus(&v1alpha1.ImageListPullJob{Status: test.status}); got.Phase != test.want {
			t.Errorf("%+v: %+v, want %s", test.status, got, test.want)
		}
	}
}
