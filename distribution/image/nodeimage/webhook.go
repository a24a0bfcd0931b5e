// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-nodeimage"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-nodeimage"
)

// Webhook answers admission requests for NodeImages. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// NoAgents refuses new NodeImages and changed specs with the code 403, for
	// installations whose nodes run no agent: no agent would pull.
	NoAgents bool
	// clock gives the time of tasks that do not say when they were given.
	// Default: the real one.
	clock clock.PassiveClock
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

// Validate answers CREATE and UPDATE. It refuses an invalid one with the code
// 422 and a cause for every field.
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

type change = admission.Change[v1alpha1.NodeImage]

func (w *Webhook) admission() admission.Webhook[v1alpha1.NodeImage] {
	return admission.Webhook[v1alpha1.NodeImage]{
		GroupKind: v1alpha1.Kind("NodeImage"), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: func(_ context.Context, c change) error {
			now := time.Now
			if w.clock != nil {
				now = w.clock.Now
			}
			Default(c.Object, now())
			return nil
		},
		Check: images.ChecksAgents(w.NoAgents, "tasks to pull images", func(n *v1alpha1.NodeImage) *v1alpha1.NodeImageSpec { return &n.Spec },
			admission.Checks(ValidateCreate, ValidateUpdate)),
	}
}
