// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// call sends the review of a write to a webhook.
func (a *admitter) call(ctx context.Context, w *webhook, r fakecluster.Request, before, after *unstructured.Unstructured) (*admissionv1.AdmissionResponse, error) {
	kind, resource := metav1.GroupVersionKind(r.Kind()), metav1.GroupVersionResource{Group: r.Group, Version: r.Kind().Version, Resource: r.Resource}
	if after != nil && r.Subresource != "status" {
		kind = metav1.GroupVersionKind(after.GroupVersionKind()) // that of an Eviction
	}
	request := &admissionv1.AdmissionRequest{
		UID: types.UID(fmt.Sprintf("%s %s/%s", r.String(), r.Namespace, r.Name)), Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		SubResource: r.Subresource, RequestSubResource: r.Subresource, Name: name(r, after), Namespace: r.Namespace,
		Operation: admissionv1.Operation(operations[r.Verb]), UserInfo: authenticationv1.UserInfo{Username: r.User}, DryRun: &r.DryRun,
	}
	if before != nil {
		request.OldObject.Object = before
	}
	if after != nil {
		request.Object.Object = after
	}
	return w.post(ctx, a.handlers[w.path()], request)
}

// post has a handler answer a request.
func (w *webhook) post(ctx context.Context, handler http.Handler, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	review := admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(&review)
	if err != nil {
		return nil, err
	}
	call := httptest.NewRequestWithContext(ctx, http.MethodPost, w.path(), bytes.NewReader(body))
	call.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, call)
	var answer admissionv1.AdmissionReview
	switch err := json.Unmarshal(recorder.Body.Bytes(), &answer); {
	case recorder.Code != http.StatusOK:
		return nil, fmt.Errorf("status %d: %s", recorder.Code, recorder.Body)
	case err != nil:
		return nil, err
	case answer.Response == nil || answer.Response.UID != request.UID:
		return nil, fmt.Errorf("the answer is not one to this request: %s", recorder.Body)
	}
	return answer.Response, nil
}

func name(r fakecluster.Request, after *unstructured.Unstructured) string {
	if r.Name == "" && after != nil {
		return after.GetName()
	}
	return r.Name
}

func patched(object *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if data, err = operations.Apply(data); err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(data)
}

// refused is the error of a write that a webhook refuses, with the code and the causes that the webhook gives.
func refused(w *webhook, response *admissionv1.AdmissionResponse) error {
	status := metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
	if response.Result != nil {
		status = *response.Result
		status.Code = cmp.Or(status.Code, http.StatusForbidden)
	}
	status.Status = metav1.StatusFailure
	status.Message = fmt.Sprintf("admission webhook %q denied the request: %s", w.name, cmp.Or(status.Message, string(status.Reason), "without explanation"))
	return &apierrors.StatusError{ErrStatus: status}
}
