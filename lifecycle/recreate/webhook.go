package recreate

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// MutatePath is where webhook configurations look for Webhook.Default. There is
// no validating webhook.
const MutatePath = "/mutate-apps-kruise-io-v1alpha1-containerrecreaterequest"

// PodLookup returns a pod, or an error for which apierrors.IsNotFound holds.
type PodLookup func(ctx context.Context, namespace, name string) (*corev1.Pod, error)

// Webhook answers admission requests for ContainerRecreateRequests. It may be
// used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// Pods looks up the pod of a new request. It should ask the API server
	// itself: with a cache that is behind, a request may mean a run of a
	// container that has ended meanwhile, and nothing would be restarted.
	// Required; where it is nil, new requests are refused with the code 500.
	Pods PodLookup
	// Disabled refuses every request with the code 403: nodes have no agents
	// that would carry it out.
	Disabled bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler {
	return map[string]http.Handler{MutatePath: admission.Handler(w.Default)}
}

// Default answers CREATE and UPDATE. It refuses a wrong request with the code
// 400, and a change that is not allowed with the code 403, with a cause for
// every field. A new request that is right it fills in by a JSON patch, see the
// function Default; fields that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, review *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if !admission.IsAbout(review, v1alpha1.Kind(kind)) {
		return admission.Allowed()
	}
	switch {
	case review.Operation != admissionv1.Create && review.Operation != admissionv1.Update:
		return admission.Allowed()
	case w.Disabled:
		return admission.Forbidden(review, "feature-gate KruiseDaemon is not enabled")
	}
	request, old, err := admission.Objects[v1alpha1.ContainerRecreateRequest](review)
	if err != nil {
		return admission.Errored(err)
	}
	if old == nil {
		return w.create(ctx, review, request)
	}
	if errs := ValidateUpdate(request, old); len(errs) > 0 {
		return refused(review, errs, http.StatusForbidden, metav1.StatusReasonForbidden)
	}
	return admission.Allowed()
}

// create checks and fills in a new request.
func (w *Webhook) create(ctx context.Context, review *admissionv1.AdmissionRequest, request *v1alpha1.ContainerRecreateRequest) *admissionv1.AdmissionResponse {
	if errs := ValidateCreate(request); len(errs) > 0 {
		return refused(review, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	pod, err := w.pod(ctx, review.Namespace, request.Spec.PodName)
	if err != nil {
		return admission.Errored(err)
	}
	if errs := ValidatePod(request, pod); len(errs) > 0 {
		return refused(review, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	Default(request, pod)
	return admission.Patched(review.Object.Raw, request)
}

// pod returns the pod of a new request. That there is none is the fault of the
// request, everything else is an internal error. (CRR-3.2.6)
func (w *Webhook) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	if w.Pods == nil {
		return nil, errors.New("the webhook cannot look up pods: Webhook.Pods is nil")
	}
	pod, err := w.Pods(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("spec.podName: there is no pod %q in namespace %q", name, namespace))
	}
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read pod %s/%s: %w", namespace, name, err))
	}
	return pod, nil
}

// refused refuses a request as the API server refuses an invalid object, but
// with another code.
func refused(review *admissionv1.AdmissionRequest, errs field.ErrorList, code int32, reason metav1.StatusReason) *admissionv1.AdmissionResponse {
	response := admission.Validated(review, errs)
	response.Result.Code, response.Result.Reason = code, reason
	return response
}
