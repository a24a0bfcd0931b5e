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

// TestConfirmTemplates shows in testdata/confirmed.txt what comes of the statuses that an API server answers, and of changes of templates.
func TestConfirmTemplates(t *testing.T) {
	templates := podtemplate.Templates{
		Pod:    podTemplate(corev1.Volume{Name: "scratch"}, corev1.Volume{Name: "data"}),
		Claims: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}, {ObjectMeta: metav1.ObjectMeta{Name: "logs"}}},
	}
	datadriven.RunTest(t, "testdata/confirmed.txt", func(t *testing.T, d *datadriven.TestData) string {
		change := admission.Change[podtemplate.Templates]{Request: request(), Object: &templates}
		var answer error
		switch d.Cmd {
		case "refused":
			answer = fmt.Errorf("check: %w", &apierrors.StatusError{ErrStatus: read[metav1.Status](t, d.Input)})
		case "unanswered":
			answer = errors.New("connection refused")
		case "changed":
			given := read[struct{ Old, New *podtemplate.Templates }](t, d.Input)
			change.Object, change.Old = given.New, given.Old
		}
		out := ""
		checker := validation.TemplateChecker(verdict(func(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
			if _, limited := ctx.Deadline(); !limited || namespace != "shop" {
				t.Errorf("the check in namespace %s has a time limit: %t", namespace, limited)
			}
			out += "asked about the volumes"
			for _, v := range template.Spec.Volumes {
				out += fmt.Sprintf(" %s", v.Name)
				if v.PersistentVolumeClaim != nil {
					out += " of a claim"
				}
			}
			out += "\n"
			return answer
		}))
		if d.HasArg("unchecked") {
			checker = nil
		}
		got := validation.ConfirmTemplates(all, checker)(t.Context(), change)
		out += fmt.Sprintf("allowed: %t\n", got.Allowed)
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
