// SPDX-License-Identifier: Apache-2.0

package imagelistpulljob

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
)

const (
	// MutatePath is the path by which webhook configurations name Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-imagelistpulljob"
	// ValidatePath is the path by which webhook configurations name Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-imagelistpulljob"
)

// Webhook answers admission requests for ImageListPullJobs. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// NoAgents refuses new jobs and changed specs with the code 403, for
	// installations whose nodes run no agent: no agent would pull.
	NoAgents bool
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

// Validate answers CREATE and UPDATE. It refuses an invalid job with the code
// 422 and a cause for every field. It warns of changes that come to nothing, since the job is over. (ILP-4)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Validate(ctx, request)
}

func (w *Webhook) admission() admission.Webhook[v1alpha1.ImageListPullJob] {
	return admission.Webhook[v1alpha1.ImageListPullJob]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath, ValidatePath: ValidatePath,
		Default: admission.Defaults(func(job, _ *v1alpha1.ImageListPullJob, _ struct{}) { Default(job) }, struct{}{}),
		Check:   images.ChecksAgents(w.NoAgents, "image list pull jobs", specOf, admission.Checks(ValidateCreate, ValidateUpdate)),
		Confirm: images.ConfirmsJobs(
			func(job *v1alpha1.ImageListPullJob) *metav1.Time { return job.Status.CompletionTime }, specOf,
			func(spec *v1alpha1.ImageListPullJobSpec) *v1alpha1.CompletionPolicy { return &spec.CompletionPolicy }),
	}
}

func specOf(job *v1alpha1.ImageListPullJob) *v1alpha1.ImageListPullJobSpec { return &job.Spec }
