// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"context"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/podtemplate"
)

// defaultTimeout is the time for the API server's verdict on a template if it does not
// say how long it waits for the webhook. It is half of what it waits by default.
const defaultTimeout = 5 * time.Second

// InTime limits the time for what a webhook asks the API server. It is half of what the server
// still waits for the webhook, so that a slow answer is a warning and no failure.
func InTime(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := defaultTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = time.Until(deadline) / 2
	}
	return context.WithTimeout(ctx, timeout)
}

// TemplateChecker is workloads.TemplateChecker.
type TemplateChecker interface {
	CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error
}

// DryRun is a TemplateChecker. It has the API server itself judge a pod template before a workload that
// uses it is stored. It asks it to create a core/v1 PodTemplate without storing it.
// So templates are judged by the very release that will have to accept the pods.
type DryRun struct {
	Client typedcorev1.PodTemplatesGetter
}

// CheckTemplate returns the API server's verdict.
func (d DryRun) CheckTemplate(ctx context.Context, namespace string, template *corev1.PodTemplateSpec) error {
	_, err := d.Client.PodTemplates(namespace).Create(ctx, &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "template-check-"},
		Template:   *template,
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// ConfirmTemplates answers changes that nothing but the templates can be wrong
// with, by the verdict on them if they are new or changed. If no verdict can
// be had in time, it allows the request with a warning. Without a checker all are right. Labels and annotations
// that pods do not get from the template cost a warning each. (CT-7)
func ConfirmTemplates[T any](of func(*T) podtemplate.Templates, checker TemplateChecker) func(context.Context, admission.Change[T]) *admissionv1.AdmissionResponse {
	return func(ctx context.Context, c admission.Change[T]) *admissionv1.AdmissionResponse {
		if c.Old != nil && of(c.Object).Equal(of(c.Old)) {
			return admission.Allowed()
		}
		response := admission.Allowed()
		if checker != nil {
			response = answerTemplates(ctx, c.Request, of(c.Object), checker)
		}
		if response.Allowed {
			response.Warnings = append(response.Warnings, WarnOwned(of(c.Object).Pod, field.NewPath("spec", "template"))...)
		}
		return response
	}
}

// WarnOwned says which labels and annotations of a template its pods do not get, because controllers own them in each pod. (CT-7)
func WarnOwned(template *corev1.PodTemplateSpec, path *field.Path) (warnings []string) {
	meta := path.Child("metadata")
	for _, in := range []struct {
		path *field.Path
		keys map[string]string
	}{{meta.Child("labels"), template.Labels}, {meta.Child("annotations"), template.Annotations}} {
		for _, key := range podstate.Owned(in.keys) {
			warnings = append(warnings, in.path.Key(key).String()+": controllers own this key in each pod; no pod gets it from the template")
		}
	}
	return warnings
}

func answerTemplates(ctx context.Context, request *admissionv1.AdmissionRequest, templates podtemplate.Templates, checker TemplateChecker) *admissionv1.AdmissionResponse {
	errs, reason := Verdict(ctx, request, request.Namespace, templates, checker)
	response := admission.Validated(request, errs)
	if reason != "" {
		response.Warnings = []string{"spec.template was checked only in part, because the API server gave no verdict on it: " + reason}
	}
	return response
}

// Verdict asks a checker what is wrong with templates, by fields below spec.template. If
// no verdict can be had in time, noVerdict says why.
func Verdict(
	ctx context.Context, request *admissionv1.AdmissionRequest, namespace string, templates podtemplate.Templates, checker TemplateChecker,
) (errs field.ErrorList, noVerdict string) {
	template, claims := templates.WithClaims()
	limited, cancel := InTime(ctx)
	defer cancel()
	err := checker.CheckTemplate(limited, namespace, template)
	if err == nil {
		return nil, ""
	}
	if errs, ok := fieldErrors(err, claims); ok {
		return errs, ""
	}
	klog.FromContext(ctx).Error(err, "Allowed a "+request.Kind.Kind+" whose template could not be checked in full")
	return nil, ShortReason(err)
}

// ShortReason says why a request failed. It fits into a warning, which is cut off after 256 characters.
func ShortReason(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "the request failed"
}
