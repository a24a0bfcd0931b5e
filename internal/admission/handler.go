// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/klog/v2"
)

// maxReviewBytes is the size of the largest review that a Handler reads. The API
// server takes objects of up to 3 MiB, and a review holds two.
const maxReviewBytes = 8 << 20

// Func answers an admission request. The request is not nil and is the
// function's own. The context ends when the API server no longer waits, and
// carries a logger that names the object. The function may leave the UID of
// its answer empty. It must not answer nil.
type Func func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Handler serves a Func to the API server.
//
// What is no admission review is answered with the HTTP status 405 (not
// POSTed), 415 (not JSON), 413 (larger than maxReviewBytes) or 400. A function that
// panics or answers nil gives 500 and an entry in the log; the API server then
// acts on the webhook's failurePolicy.
func Handler(f Func) http.Handler {
	return protocol[*admissionv1.AdmissionReview]{
		kind:          admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"),
		versionsField: "admissionReviewVersions of the webhook",
		maxBodyBytes:  maxReviewBytes,
		empty:         func() *admissionv1.AdmissionReview { return &admissionv1.AdmissionReview{} },
		describe:      describe,
		respond: func(ctx context.Context, review *admissionv1.AdmissionReview) (*admissionv1.AdmissionReview, error) {
			return answer(ctx, f, review.Request)
		},
	}.handler()
}

// describe says what a request is about.
func describe(review *admissionv1.AdmissionReview) []any {
	request := review.Request
	if request == nil {
		return nil
	}
	return []any{
		"operation", request.Operation, "kind", request.Kind.Kind,
		"object", klog.KRef(request.Namespace, request.Name), "uid", request.UID,
	}
}

// answer calls the function, and turns a missing answer into an error.
func answer(ctx context.Context, f Func, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionReview, error) {
	uid := request.UID
	given := f(ctx, request)
	if given == nil {
		return nil, errors.New("the webhook gave no answer: want an AdmissionResponse, got nil")
	}
	tell(ctx, request, given)
	copied := *given // the function may give the same answer to many
	copied.UID = uid
	return &admissionv1.AdmissionReview{Response: &copied}, nil
}
