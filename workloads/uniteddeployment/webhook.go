// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-uniteddeployment"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-uniteddeployment"
)

// Webhook answers admission requests for UnitedDeployments. Its zero value works, with
// defaults, validation and deletion protection as they are by default. It may be used by
// many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// TemplateNoDefaults leaves templates as they were sent, see DefaultOptions.
	TemplateNoDefaults bool
	// DisableDeletionProtection lets every UnitedDeployment be deleted, see ValidateDelete.
	DisableDeletionProtection bool

	// AdaptiveScheduling also judges whether minReplicas and maxReplicas leave room for
	// spec.replicas: set it if Options.AdaptiveScheduling is. Default false. (UD-15.5)
	AdaptiveScheduling bool

	// Templates judges new and changed templates by all the rules of a pod, beside those of
	// CloneSets, see workloads.DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about UnitedDeployments without any other problem, and only a
	// verdict counts. If it cannot be had in time, the UnitedDeployment is allowed with a
	// warning.
	Templates workloads.TemplateChecker
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE, UPDATE and DELETE. It refuses an invalid UnitedDeployment with
// the code 422 and a cause for every field. It refuses the deletion of a protected one
// with the code 403.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

// Rules returns the RBAC rules that the webhook needs: for Templates to create
// pod templates, which a dry run does. Without Templates it needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	return manifests.If(w.Templates != nil, manifests.JudgeTemplates())
}

type change = admission.Change[v1alpha1.UnitedDeployment]

func (w *Webhook) admission() admission.Webhook[v1alpha1.UnitedDeployment] {
	k := admission.Webhook[v1alpha1.UnitedDeployment]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: admission.Defaults(Default, DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults}),
		Check: func(_ context.Context, c change) (field.ErrorList, error) {
			return c.Errors(
				func(set *v1alpha1.UnitedDeployment) field.ErrorList { return validateCreate(set, w.AdaptiveScheduling) },
				func(set, old *v1alpha1.UnitedDeployment) field.ErrorList {
					return validateUpdate(set, old, w.AdaptiveScheduling)
				}), nil
		},
		Confirm: w.confirm,
	}
	if !w.DisableDeletionProtection {
		k.CheckDelete = ValidateDelete
	}
	return k
}

// confirm answers changes that nothing but the template can be wrong with. (UD-15.1, CT-7)
func (w *Webhook) confirm(ctx context.Context, c change) *admissionv1.AdmissionResponse {
	template := &c.Object.Spec.Template
	if c.Old != nil && sameTemplates(template, &c.Old.Spec.Template) {
		return admission.Allowed()
	}
	response := admission.Allowed()
	if template.CloneSetTemplate == nil && w.Templates != nil {
		response = w.judge(ctx, c.Request, template)
	}
	if pods := podTemplate(template); response.Allowed && pods != nil {
		response.Warnings = append(response.Warnings, validation.WarnOwned(pods, field.NewPath("spec", "template", templateField(template), "spec", "template"))...)
	}
	return response
}

// judge asks what is wrong with the pods of a template.
func (w *Webhook) judge(ctx context.Context, request *admissionv1.AdmissionRequest, template *v1alpha1.SubsetTemplate) *admissionv1.AdmissionResponse {
	errs, noVerdict := validation.Verdict(ctx, request, request.Namespace, templates(template), w.Templates)
	for _, err := range errs { // they are those of the spec of a workload
		if below, found := strings.CutPrefix(err.Field, "spec."); found {
			err.Field = field.NewPath("spec", "template", templateField(template), "spec").String() + "." + below
		}
	}
	response := admission.Validated(request, errs)
	if noVerdict != "" {
		response.Warnings = []string{"spec.template was checked only in part, because the API server gave no verdict on it: " + noVerdict}
	}
	return response
}

// sameTemplates tells whether two templates make workloads of one kind with the same pods.
func sameTemplates(a, b *v1alpha1.SubsetTemplate) bool {
	kind, ok := kindOf(a)
	other, same := kindOf(b)
	return ok && same && kind == other && templates(a).Equal(templates(b))
}
