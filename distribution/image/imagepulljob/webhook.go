package imagepulljob

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

const (
	// MutatePath is where webhook configurations look for Webhook.Default.
	MutatePath = "/mutate-apps-kruise-io-v1alpha1-imagepulljob"
	// ValidatePath is where webhook configurations look for Webhook.Validate.
	ValidatePath = "/validate-apps-kruise-io-v1alpha1-imagepulljob"
)

// Webhook answers admission requests for ImagePullJobs. Its zero value works. It
// may be used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// NoAgents refuses new jobs and changed specs with the code 403, for
	// installations whose nodes run no agent: nobody would pull.
	NoAgents bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler {
	return map[string]http.Handler{
		MutatePath:   admission.Handler(w.Default),
		ValidatePath: admission.Handler(w.Validate),
	}
}

// Default answers CREATE and UPDATE with a JSON patch that sets the defaults.
// Fields of the object that this version does not know stay as they are.
func (w *Webhook) Default(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !concerns(request) {
		return admission.Allowed()
	}
	job, _, err := admission.Objects[v1alpha1.ImagePullJob](request)
	if err != nil {
		return admission.Errored(err)
	}
	Default(job)
	return admission.Patched(request.Object.Raw, job)
}

// Validate answers CREATE and UPDATE. It refuses an invalid job with the code
// 422 and a cause for every field.
func (w *Webhook) Validate(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !concerns(request) {
		return admission.Allowed()
	}
	job, old, err := admission.Objects[v1alpha1.ImagePullJob](request)
	if err != nil {
		return admission.Errored(err)
	}
	if w.NoAgents && (old == nil || !equality.Semantic.DeepEqual(&job.Spec, &old.Spec)) {
		return admission.Forbidden(request, "image pull jobs are turned off (feature gate KruiseDaemon): no agent on the nodes would pull")
	}
	if old == nil {
		return admission.Validated(request, ValidateCreate(job))
	}
	return admission.Validated(request, ValidateUpdate(job, old))
}

func concerns(request *admissionv1.AdmissionRequest) bool {
	return admission.IsAbout(request, v1alpha1.Kind("ImagePullJob")) &&
		(request.Operation == admissionv1.Create || request.Operation == admissionv1.Update)
}
