// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-advancedcronjob"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-advancedcronjob"
)

// Webhook answers admission requests for AdvancedCronJobs. Its zero value works.
// It may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// TemplateNoDefaults leaves templates as they were sent, see DefaultOptions.
	TemplateNoDefaults bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the Webhook needs: none, since it asks the API server nothing.
func (w *Webhook) Rules() []rbacv1.PolicyRule { return nil }

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, request)
}

// Validate answers CREATE and UPDATE. It refuses an invalid cron job with the code
// 422 and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

func (w *Webhook) admission() admission.Webhook[v1alpha1.AdvancedCronJob] {
	return admission.Webhook[v1alpha1.AdvancedCronJob]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: admission.Defaults(Default, DefaultOptions{TemplateNoDefaults: w.TemplateNoDefaults}),
		Check:   admission.Checks(ValidateCreate, ValidateUpdate),
	}
}
