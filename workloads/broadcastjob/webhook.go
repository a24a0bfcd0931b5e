// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-broadcastjob"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-broadcastjob"
)

// Webhook answers admission requests for BroadcastJobs. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// TemplateNoDefaults leaves templates as they were sent, see DefaultOptions.
	TemplateNoDefaults bool
	// Templates judges new and changed templates by all the rules of a pod,
	// see workloads.DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about jobs without any other problem, and only a
	// verdict counts. If it cannot be had in time (no permission, no quota,
	// an API server in trouble), the job is allowed with a warning.
	Templates workloads.TemplateChecker
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the webhook needs: for Templates to create
// pod templates, which a dry run does. Nil needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	return manifests.If(w.Templates != nil, manifests.JudgeTemplates())
}

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE and UPDATE. It refuses an invalid job with the code
// 422 and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

func (w *Webhook) admission() admission.Webhook[v1alpha1.BroadcastJob] {
	return admission.Webhook[v1alpha1.BroadcastJob]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: admission.Defaults(Default, DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults}),
		Check:   admission.Checks(ValidateCreate, ValidateUpdate),
		Confirm: validation.ConfirmTemplates(func(job *v1alpha1.BroadcastJob) podtemplate.Templates { return templates(&job.Spec) }, w.Templates),
	}
}
