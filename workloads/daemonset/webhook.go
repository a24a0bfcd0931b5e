// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-daemonset"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-daemonset"
)

// Webhook answers admission requests for DaemonSets. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// FixedSelector refuses to change spec.selector, as OpenKruise does from 1.6 on. (DS-V9)
	FixedSelector bool
	// Templates judges new and changed templates by all the rules of a pod,
	// see workloads.DryRun. Nil: only by the rules of ValidateCreate.
	//
	// It is asked last, about sets without any other problem, and only a
	// verdict counts. If it cannot be had in time (no permission, no quota,
	// an API server in trouble), the set is allowed with a warning.
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

// Validate answers CREATE and UPDATE. It refuses an invalid set with the code
// 422 and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

// selectorUnchanged refuses another selector. (DS-V9)
func (w *Webhook) selectorUnchanged(c change) field.ErrorList {
	if !w.FixedSelector || c.Old == nil {
		return nil
	}
	return validation.SelectorUnchanged(c.Object.Spec.Selector, c.Old.Spec.Selector, kind, field.NewPath("spec"))
}

type change = admission.Change[v1alpha1.DaemonSet]

func (w *Webhook) admission() admission.Webhook[v1alpha1.DaemonSet] {
	return admission.Webhook[v1alpha1.DaemonSet]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: func(_ context.Context, c change) error {
			Default(c.Object)
			return nil
		},
		Check: func(_ context.Context, c change) (field.ErrorList, error) {
			return append(c.Errors(ValidateCreate, ValidateUpdate), w.selectorUnchanged(c)...), nil
		},
		Confirm: validation.ConfirmTemplates(func(set *v1alpha1.DaemonSet) podtemplate.Templates { return templates(&set.Spec) }, w.Templates),
	}
}
