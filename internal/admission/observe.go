// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
)

// Observer is told of requests and their answers, neither of which it changes.
type Observer func(*admissionv1.AdmissionRequest, *admissionv1.AdmissionResponse)

// observerKey is the key of an Observer in a context.
type observerKey struct{}

// Observed returns a Handler that has an observer.
func Observed(handler http.Handler, observe Observer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), observerKey{}, observe)))
	})
}

// tell tells the observer, if there is one.
func tell(ctx context.Context, request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
	if observe, is := ctx.Value(observerKey{}).(Observer); is {
		observe(request, response)
	}
}
