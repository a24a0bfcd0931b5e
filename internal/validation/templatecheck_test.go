// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/typed/core/v1/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
)

func podTemplate(volumes ...corev1.Volume) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: volumes, Containers: []corev1.Container{{Name: "main", Image: "a"}}}}
}

func request() *admissionv1.AdmissionRequest {
	return &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "shop", Name: "demo",
		Kind: metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}}
}

// verdict is a TemplateChecker.
type verdict func(context.Context, string, *corev1.PodTemplateSpec) error

func (v verdict) CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
	return v(ctx, namespace, template)
}

func all(t *podtemplate.Templates) podtemplate.Templates { return *t }

// confirm answers a request for new templates.
func confirm(t *testing.T, templates podtemplate.Templates, checker verdict) *admissionv1.AdmissionResponse {
	return validation.ConfirmTemplates(all, checker)(t.Context(), admission.Change[podtemplate.Templates]{Request: request(), Object: &templates})
}

func TestDryRun(t *testing.T) {
	client := &fake.FakeCoreV1{Fake: &clienttesting.Fake{}}
	var created []clienttesting.CreateActionImpl
	client.PrependReactor("create", "podtemplates", func(action clienttesting.Action) (bool, runtime.Object, error) {
		created = append(created, action.(clienttesting.CreateActionImpl))
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "podtemplates"}, "", errors.New("no"))
	})
	template := podTemplate()
	if err := (validation.DryRun{Client: client}).CheckTemplate(t.Context(), "shop", template); !apierrors.IsForbidden(err) {
		t.Errorf("want the API server's error, got %v", err)
	}
	if len(created) != 1 {
		t.Fatalf("want one request, got %v", created)
	}
	want := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", GenerateName: "template-check-"}, Template: *template}
	if diff := cmp.Diff(want, created[0].Object); diff != "" {
		t.Errorf("pod template (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(metav1.CreateOptions{DryRun: []string{"All"}}, created[0].CreateOptions); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestConfirmTemplates(t *testing.T) {
	invalid := func(errs ...*field.Error) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", errs)
	}
	path := func(name string, more ...string) *field.Path { return field.NewPath(name, more...) }
	// The workload has the volumes scratch and data, and the claim templates data
	// (in the place of the volume) and logs (which becomes volume 2).
	templates := podtemplate.Templates{
		Pod:    podTemplate(corev1.Volume{Name: "scratch"}, corev1.Volume{Name: "data"}),
		Claims: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, {ObjectMeta: metav1.ObjectMeta{Name: "logs"}}},
	}
	for _, tt := range []struct {
		name string
		err  error
		want []string
	}{
		{"no error", nil, nil},
		{"paths lead into the spec", invalid(field.Invalid(path("template", "spec").Child("dnsPolicy"), "x", "is odd")),
			[]string{`spec.template.spec.dnsPolicy: Invalid value: "x": is odd`}},
		{"types stay", invalid(field.Required(path("template", "spec", "a"), "why"), field.Duplicate(path("template", "spec", "b"), "x"), field.Forbidden(path("template", "spec", "c"), "no")),
			[]string{"spec.template.spec.a: Required value: why", `spec.template.spec.b: Duplicate value: "x"`, "spec.template.spec.c: Forbidden: no"}},
		{"a claim in the place of a volume", invalid(field.Invalid(path("template", "spec", "volumes").Index(1).Child("persistentVolumeClaim", "claimName"), "data", "is odd")),
			[]string{`spec.volumeClaimTemplates[0].metadata.name: Invalid value: "data": is odd`}},
		{"a claim after the volumes", invalid(field.Invalid(path("template", "spec", "volumes").Index(2).Child("name"), "logs", "is odd")),
			[]string{`spec.volumeClaimTemplates[1].metadata.name: Invalid value: "logs": is odd`}},
		{"all of a claim", invalid(field.Required(path("template", "spec", "volumes").Index(2), "why")), []string{"spec.volumeClaimTemplates[1]: Required value: why"}},
		{"a volume", invalid(field.Invalid(path("template", "spec", "volumes").Index(0).Child("name"), "scratch", "is odd")),
			[]string{`spec.template.spec.volumes[0].name: Invalid value: "scratch": is odd`}},
		{"a field that is not the template's", invalid(field.Invalid(path("metadata", "generateName"), "x", "is odd")), []string{`spec.template: Invalid value: "x": is odd`}},
		{"a cause of another kind", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Details: &metav1.StatusDetails{
			Causes: []metav1.StatusCause{{Type: "Odd", Field: "template.spec", Message: "is odd"}}}}}, []string{"spec.template.spec: Invalid value: is odd"}},
		{"no cause at all", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 422, Message: "a policy denied it"}}, []string{"spec.template: Invalid value: a policy denied it"}},
		{"wrapped", fmt.Errorf("check: %w", invalid(field.Required(path("template", "spec", "a"), ""))), []string{"spec.template.spec.a: Required value"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := confirm(t, templates, func(_ context.Context, namespace string, template *corev1.PodTemplateSpec) error {
				var volumes []string
				for _, v := range template.Spec.Volumes {
					volumes = append(volumes, fmt.Sprint(v.Name, v.PersistentVolumeClaim != nil))
				}
				if diff := cmp.Diff([]string{"scratchfalse", "datatrue", "logstrue"}, volumes); diff != "" || namespace != "shop" {
					t.Errorf("checked in namespace %s with volumes (-want +got):\n%s", namespace, diff)
				}
				return tt.err
			})
			var causes []string
			if !got.Allowed {
				for _, cause := range got.Result.Details.Causes {
					causes = append(causes, cause.Field+": "+cause.Message)
				}
			}
			if diff := cmp.Diff(tt.want, causes); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfirmTemplatesWithoutVerdict(t *testing.T) {
	pods := schema.GroupResource{Resource: "podtemplates"}
	const warning = "spec.template was checked only in part, because the API server gave no verdict on it: "
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"no permission":   {apierrors.NewForbidden(pods, "", errors.New("no")), "Forbidden"},
		"no namespace":    {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), "NotFound"},
		"too busy":        {apierrors.NewTooManyRequests("later", 1), "TooManyRequests"},
		"out of time":     {apierrors.NewTimeoutError("slow", 1), "Timeout"},
		"no connection":   {errors.New("connection refused"), "the request failed"},
		"nobody in sight": {context.DeadlineExceeded, "the request failed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := confirm(t, podtemplate.Templates{Pod: podTemplate()}, func(ctx context.Context, _ string, _ *corev1.PodTemplateSpec) error {
				if _, limited := ctx.Deadline(); !limited {
					t.Error("the check has no time limit")
				}
				return tt.err
			})
			if diff := cmp.Diff(&admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{warning + tt.want}}, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// A verdict that does not come leaves the webhook half of its time to answer.
func TestConfirmTemplatesInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for waits, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 4 * time.Second: 2 * time.Second, 30 * time.Second: 15 * time.Second} {
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if waits > 0 {
				ctx, cancel = context.WithTimeout(ctx, waits)
			}
			begin := time.Now()
			never := verdict(func(ctx context.Context, _ string, _ *corev1.PodTemplateSpec) error {
				<-ctx.Done()
				return ctx.Err()
			})
			got := validation.ConfirmTemplates(all, never)(ctx, admission.Change[podtemplate.Templates]{Request: request(), Object: &podtemplate.Templates{Pod: podTemplate()}})
			if took := time.Since(begin); took != want || !got.Allowed || len(got.Warnings) != 1 {
				t.Errorf("the API server waits %v: answered %+v after %v, want a warning after %v", waits, got, took, want)
			}
			cancel()
		}
	})
}

func TestTemplatesAreCheckedWhenTheyChange(t *testing.T) {
	one := &podtemplate.Templates{Pod: podTemplate()}
	for name, tt := range map[string]struct {
		object, old *podtemplate.Templates
		want        int
	}{
		"new":            {one, nil, 1},
		"the same":       {&podtemplate.Templates{Pod: podTemplate()}, one, 0},
		"another pod":    {&podtemplate.Templates{Pod: podTemplate(corev1.Volume{Name: "data"})}, one, 1},
		"another claim":  {&podtemplate.Templates{Pod: podTemplate(), Claims: make([]corev1.PersistentVolumeClaim, 1)}, one, 1},
		"no claims left": {one, &podtemplate.Templates{Pod: podTemplate(), Claims: make([]corev1.PersistentVolumeClaim, 1)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			checker := verdict(func(context.Context, string, *corev1.PodTemplateSpec) error { asked++; return nil })
			got := validation.ConfirmTemplates(all, checker)(t.Context(), admission.Change[podtemplate.Templates]{Request: request(), Object: tt.object, Old: tt.old})
			if asked != tt.want || !got.Allowed {
				t.Errorf("asked %d times, want %d; allowed %t", asked, tt.want, got.Allowed)
			}
		})
	}
}

// CT-7: a template with keys that no pod gets from it is admitted, with a warning for each.
func TestConfirmTemplatesWarnsOfOwnedKeys(t *testing.T) {
	copied := podTemplate()
	copied.Labels = map[string]string{"app": "web", "apps.kruise.io/specified-delete": "true"}
	copied.Annotations = map[string]string{"apps.kruise.io/inplace-update-state": "{}"}
	const ending = ": controllers own this key in each pod; no pod gets it from the template"
	want := []string{"spec.template.metadata.labels[apps.kruise.io/specified-delete]" + ending, "spec.template.metadata.annotations[apps.kruise.io/inplace-update-state]" + ending}
	fine := verdict(func(context.Context, string, *corev1.PodTemplateSpec) error { return nil })
	for _, checker := range []validation.TemplateChecker{nil, fine} {
		change := admission.Change[podtemplate.Templates]{Request: request(), Object: &podtemplate.Templates{Pod: copied}}
		if got := validation.ConfirmTemplates(all, checker)(t.Context(), change); !got.Allowed || !cmp.Equal(want, got.Warnings) {
			t.Errorf("%+v", got)
		}
		change.Old = change.Object
		if got := validation.ConfirmTemplates(all, checker)(t.Context(), change); !got.Allowed || got.Warnings != nil {
			t.Errorf("nothing changes: %+v", got)
		}
	}
}
