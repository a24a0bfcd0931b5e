// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ValidatePath is the path by which webhook configurations name Webhook.Validate.
const ValidatePath = "/validate-apps-kruise-io-podprobemarker"

// Webhook answers admission requests for PodProbeMarkers. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400. There are no defaults to set. (PPM-1.1)
type Webhook struct {
	// PlainNames refuses a probe that comes to have a # in its name, as OpenKruise does from 1.6 on. It divides the names of
	// marker and probe in NodePodProbes. Default false: it may have one. (PPM-1.3)
	PlainNames bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the Webhook needs: none, since it asks the API server nothing.
func (w *Webhook) Rules() []rbacv1.PolicyRule { return nil }

// Validate answers CREATE and UPDATE. It refuses what is invalid with the code 400, as OpenKruise does, and a cause for
// every field. (PPM-1.1)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1alpha1.PodProbeMarker]

func (w *Webhook) admission() admission.Webhook[v1alpha1.PodProbeMarker] {
	return admission.Webhook[v1alpha1.PodProbeMarker]{
		GroupKind: v1alpha1.Kind("PodProbeMarker"), ValidatePath: ValidatePath,
		Check: func(_ context.Context, c change) (field.ErrorList, error) {
			errs := c.Errors(ValidateCreate, ValidateUpdate)
			if w.PlainNames {
				errs = append(errs, plainNames(c.Object, c.Old)...)
			}
			return nil, admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		},
	}
}
