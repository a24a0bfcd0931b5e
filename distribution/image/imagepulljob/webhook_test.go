// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func TestDefault(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"IMG-1.1: all defaults, but no parallelism", "", "{completionPolicy: {type: Always}, pullPolicy: {timeoutSeconds: 600, backoffLimit: 3}}"},
		{"IMG-1.1: what is set stays", "{parallelism: 0, completionPolicy: {type: Never}, pullPolicy: {timeoutSeconds: 0, backoffLimit: 0}}",
			"{parallelism: 0, completionPolicy: {type: Never}, pullPolicy: {timeoutSeconds: 0, backoffLimit: 0}}"},
		{"IMG-1.1: half a policy", "{pullPolicy: {backoffLimit: 7}}", "{completionPolicy: {type: Always}, pullPolicy: {timeoutSeconds: 600, backoffLimit: 7}}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := newJob(t, test.spec)
			Default(got)
			if diff := cmp.Diff(newJob(t, test.want), got); diff != "" {
				t.Errorf("job (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name, image, spec string
		want              []string
	}{
		{"IMG-1.1: right", "nginx:1", "", nil},
		{"IMG-1.1: no image", "", "", []string{"spec.image"}},
		{"IMG-1.1: an image that cannot be parsed", "a b", "", []string{"spec.image"}},
		{"IMG-1.1: names together with labels", "nginx", "selector: {names: [a], matchLabels: {a: b}}", []string{"spec.selector.names"}},
		{"IMG-1.1: names together with expressions", "nginx", "selector: {names: [a], matchExpressions: [{key: a, operator: Exists}]}", []string{"spec.selector.names"}},
		{"IMG-1.1: a duplicate in names", "nginx", "selector: {names: [a, a]}", []string{"spec.selector.names[1]"}},
		{"IMG-1.1: an invalid selector", "nginx", "selector: {matchExpressions: [{key: a, operator: Like}]}", []string{"spec.selector.matchExpressions[0].operator"}},
		{"IMG-1.1: an invalid podSelector", "nginx", "podSelector: {matchExpressions: [{key: a, operator: In}]}", []string{"spec.podSelector.matchExpressions[0].values"}},
		{"IMG-1.1: both selectors", "nginx", "{selector: {}, podSelector: {}}", []string{"spec.podSelector"}},
		{"IMG-1.1: Never with a deadline and a TTL", "nginx", "completionPolicy: {type: Never, activeDeadlineSeconds: 1, ttlSecondsAfterFinished: 1}",
			[]string{"spec.completionPolicy.activeDeadlineSeconds", "spec.completionPolicy.ttlSecondsAfterFinished"}},
		{"IMG-1.1: another type", "nginx", "completionPolicy: {type: Sometimes}", []string{"spec.completionPolicy.type"}},
		{"IMG-1.1: a sandbox that no pod can have", "nginx", "sandboxConfig: {labels: {a b: c}, annotations: {not a key!: x}}", []string{"spec.sandboxConfig.labels", "spec.sandboxConfig.annotations"}},
		{"several mistakes at once", "", "completionPolicy: {type: Sometimes}", []string{"spec.image", "spec.completionPolicy.type"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, test.spec)
			job.Spec.Image = test.image
			var got []string
			for _, err := range ValidateCreate(job) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			same := job.DeepCopy()
			same.Finalizers = nil
			if errs := ValidateUpdate(same, job); len(errs) > 0 {
				t.Errorf("a spec that stays the same is refused: %v", errs)
			}
		})
	}
}

// request is an admission request about a job; old may be nil.
func request(t *testing.T, operation admissionv1.Operation, job, old *v1alpha1.ImagePullJob) *admissionv1.AdmissionRequest {
	t.Helper()
	r := &admissionv1.AdmissionRequest{
		Operation: operation, Name: "pull", Namespace: "default",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "ImagePullJob"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "imagepulljobs"},
	}
	for _, part := range []struct {
		from *v1alpha1.ImagePullJob
		to   *runtime.RawExtension
	}{{job, &r.Object}, {old, &r.OldObject}} {
		if part.from == nil {
			continue
		}
		var err error
		if part.to.Raw, err = json.Marshal(part.from); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestWebhook(t *testing.T) {
	right, wrong := newJob(t, ""), newJob(t, "completionPolicy: {type: Sometimes}")
	moved := newJob(t, "")
	moved.Spec.Image = "redis"
	another := request(t, admissionv1.Create, wrong, nil)
	another.Kind.Kind = "NodeImage"
	broken := request(t, admissionv1.Create, right, nil)
	broken.Object.Raw = []byte(`{"spec":7}`)
	for _, test := range []struct {
		name     string
		noAgents bool
		request  *admissionv1.AdmissionRequest
		want     int32 // 0: allowed
	}{
		{"IMG-1.1: a right one is created", false, request(t, admissionv1.Create, right, nil), 0},
		{"IMG-1.1: a wrong one is not", false, request(t, admissionv1.Create, wrong, nil), http.StatusUnprocessableEntity},
		{"IMG-1.1: the image may change", false, request(t, admissionv1.Update, moved, right), 0},
		{"IMG-1.1: a change to a wrong one", false, request(t, admissionv1.Update, wrong, right), http.StatusUnprocessableEntity},
		{"a wrong one that stays as it is", false, request(t, admissionv1.Update, wrong, wrong), 0},
		{"IMG-1.1: the gate is off", true, request(t, admissionv1.Create, right, nil), http.StatusForbidden},
		{"IMG-1.1: the gate is off, a change", true, request(t, admissionv1.Update, moved, right), http.StatusForbidden},
		{"the gate is off, and the spec stays", true, request(t, admissionv1.Update, right, right), 0},
		{"deletions are not asked about", true, request(t, admissionv1.Delete, nil, right), 0},
		{"another kind", true, another, 0},
		{"no job at all", false, broken, http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &Webhook{NoAgents: test.noAgents}
			response := w.Validate(context.Background(), test.request)
			if got := code(response); got != test.want || response.Allowed != (test.want == 0) {
				t.Errorf("code %d, want %d: %+v", got, test.want, response.Result)
			}
		})
	}
	response := (&Webhook{}).Default(context.Background(), request(t, admissionv1.Create, right, nil))
	if !response.Allowed || len(response.Patch) == 0 {
		t.Errorf("IMG-1.1: no defaults: %+v", response)
	}
	for _, r := range []*admissionv1.AdmissionRequest{another, request(t, admissionv1.Delete, nil, right)} {
		if response := (&Webhook{}).Default(context.Background(), r); !response.Allowed || response.Patch != nil {
			t.Errorf("defaults where there are none: %+v", response)
		}
	}
	if got := code((&Webhook{}).Default(context.Background(), broken)); got != http.StatusBadRequest {
		t.Errorf("code %d for no job at all", got)
	}
}

func code(r *admissionv1.AdmissionResponse) int32 {
	if r.Result == nil {
		return 0
	}
	return r.Result.Code
}

func TestHandlers(t *testing.T) {
	var got []string
	for path := range (&Webhook{}).Handlers() {
		got = append(got, path)
	}
	slices.Sort(got)
	want := []string{"/mutate-apps-kruise-io-v1alpha1-imagepulljob", "/validate-apps-kruise-io-v1alpha1-imagepulljob"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PF-5.1: paths (-want +got):\n%s", diff)
	}
}

// IMG-1.8: a change of a job that is over comes to nothing, but for the TTL.
func TestWarningAboutJobsThatAreOver(t *testing.T) {
	for _, test := range []struct {
		name  string
		over  bool
		after string
		warns bool
	}{
		{"a wider selector", true, "selector: {names: [a, b]}", true},
		{"another TTL", true, "selector: {names: [a]}\ncompletionPolicy: {ttlSecondsAfterFinished: 9}", false},
		{"nothing", true, "selector: {names: [a]}", false},
		{"a wider selector of a job that runs", false, "selector: {names: [a, b]}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := newJob(t, "selector: {names: [a]}"), newJob(t, test.after)
			Default(before)
			Default(after)
			if test.over {
				before.Status.CompletionTime = at(0)
			}
			response := (&Webhook{}).Validate(t.Context(), request(t, admissionv1.Update, after, before))
			if !response.Allowed || len(response.Warnings) > 0 != test.warns {
				t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
			}
		})
	}
}
