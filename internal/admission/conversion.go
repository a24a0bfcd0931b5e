// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
)

// maxConversionBytes is the size of the largest review that a ConversionHandler
// reads. A review may hold all objects of a list.
const maxConversionBytes = 32 << 20

// ConvertFunc converts an object, a JSON document, to a version (such as
// apps.kruise.io/v1beta1) and returns the converted document. Of the metadata
// it may change labels and annotations only. An error says what is wrong with
// the object, and reaches the user whose request needs the conversion.
type ConvertFunc func(object []byte, apiVersion string) ([]byte, error)

// ConversionHandler serves a ConvertFunc to the API server.
//
// An object that cannot be converted fails the whole review; the answer names
// the object. What is no conversion review is answered with the HTTP status 405
// (not POSTed), 415 (not JSON), 413 (larger than maxConversionBytes) or 400. A
// function that panics gives 500 and an entry in the log.
func ConversionHandler(f ConvertFunc) http.Handler {
	return protocol[*ConversionReview]{
		kind:          conversionReviewKind,
		versionsField: "conversionReviewVersions of the definition",
		maxBodyBytes:  maxConversionBytes,
		empty:         func() *ConversionReview { return &ConversionReview{} },
		describe:      describeConversion,
		respond: func(ctx context.Context, review *ConversionReview) (*ConversionReview, error) {
			response := convert(f, review.Request)
			if response.Result.Status != metav1.StatusSuccess {
				klog.FromContext(ctx).Info("Refused to convert", "reason", response.Result.Message)
			}
			return &ConversionReview{Response: response}, nil
		},
	}.handler()
}

// describeConversion says what a request is about.
func describeConversion(review *ConversionReview) []any {
	if review.Request == nil {
		return nil
	}
	return []any{"uid", review.Request.UID, "desiredAPIVersion", review.Request.DesiredAPIVersion}
}

// convert converts the objects of a request.
func convert(f ConvertFunc, request *ConversionRequest) *ConversionResponse {
	converted := make([]runtime.RawExtension, 0, len(request.Objects))
	for i, object := range request.Objects {
		data, err := f(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			return notConverted(request, fmt.Errorf("%s: %w", objectName(i, object.Raw), err))
		}
		converted = append(converted, runtime.RawExtension{Raw: data})
	}
	return &ConversionResponse{UID: request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}
}

func notConverted(request *ConversionRequest, err error) *ConversionResponse {
	return &ConversionResponse{
		UID: request.UID, ConvertedObjects: []runtime.RawExtension{},
		Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()},
	}
}

// objectName names an object by what can be read of it.
func objectName(index int, object []byte) string {
	named := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(object, named); err != nil || named.Name == "" {
		return fmt.Sprintf("object %d", index)
	}
	return fmt.Sprintf("%s %s", named.Kind, klog.KRef(named.Namespace, named.Name))
}
