// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// TestConfirmTemplates shows in testdata/confirmed.txt what comes of the statuses that an API server answers.
func TestConfirmTemplates(t *testing.T) {
	templates := podtemplate.Templates{
		Pod:    podTemplate(corev1.Volume{Name: "scratch"}, corev1.Volume{Name: "data"}),
		Claims: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, {ObjectMeta: metav1.ObjectMeta{Name: "logs"}}},
	}
	datadriven.RunTest(t, "testdata/confirmed.txt", func(t *testing.T, d *datadriven.TestData) string {
		var answer error
		switch d.Cmd {
		case "refused":
			answer = fmt.Errorf("check: %w", &apierrors.StatusError{ErrStatus: read[metav1.Status](t, d.Input)})
		case "unanswered":
			answer = errors.New("connection refused")
		}
		got := confirm(t, templates, func(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
			if _, limited := ctx.Deadline(); !limited {
				t.Error("the check has no time limit")
			}
			var volumes []string
			for _, v := range template.Spec.Volumes {
				volumes = append(volumes, fmt.Sprint(v.Name, v.PersistentVolumeClaim != nil))
			}
			if diff := cmp.Diff([]string{"scratchfalse", "datatrue", "logstrue"}, volumes); diff != "" || namespace != "shop" {
				t.Errorf("checked in namespace %s with volumes (-want +got):\n%s", namespace, diff)
			}
			return answer
		})
		out := fmt.Sprintf("allowed: %t\n", got.Allowed)
		for _, warning := range got.Warnings {
			out += fmt.Sprintln("warning:", warning)
		}
		if !got.Allowed {
			for _, cause := range got.Result.Details.Causes {
				out += fmt.Sprintf("%s %s: %s\n", cause.Type, cause.Field, cause.Message)
			}
		}
		return out
	})
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
