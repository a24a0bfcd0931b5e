package conversion

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/reviews"
)

// MaxBodyBytes is the size of the largest review that a Handler reads. A review
// may hold all objects of a list.
const MaxBodyBytes = 32 << 20

// Func converts an object, a JSON document, to a version (such as
// apps.kruise.io/v1beta1) and returns the converted document. Of the metadata
// it may change labels and annotations only. An error says what is wrong with
// the object, and reaches the user whose request needs the conversion.
type Func func(object []byte, apiVersion string) ([]byte, error)

// Handler serves a Func to the API server.
//
// An object that cannot be converted fails the whole review; the answer names
// the object. What is no conversion review is answered with the HTTP status 405
// (not POSTed), 415 (not JSON), 413 (larger than MaxBodyBytes) or 400. A
// function that panics gives 500 and an entry in the log.
func Handler(f Func) http.Handler {
	return reviews.Protocol[*Review]{
		Kind:          reviewKind,
		VersionsField: "conversionReviewVersions of the definition",
		MaxBodyBytes:  MaxBodyBytes,
		New:           func() *Review { return &Review{} },
		Describe:      describe,
		Answer: func(ctx context.Context, review *Review) (*Review, error) {
			response := answer(f, review.Request)
			if response.Result.Status != metav1.StatusSuccess {
				klog.FromContext(ctx).Info("Refused to convert", "reason", response.Result.Message)
			}
			return &Review{Response: response}, nil
		},
	}.Handler()
}

// describe says what a request is about.
func describe(review *Review) []any {
	if review.Request == nil {
		return nil
	}
	return []any{"uid", review.Request.UID, "desiredAPIVersion", review.Request.DesiredAPIVersion}
}

// answer converts the objects of a request.
func answer(f Func, request *Request) *Response {
	converted := make([]runtime.RawExtension, 0, len(request.Objects))
	for i, object := range request.Objects {
		data, err := f(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			return failed(request, fmt.Errorf("%s: %w", nameOf(i, object.Raw), err))
		}
		converted = append(converted, runtime.RawExtension{Raw: data})
	}
	return &Response{UID: request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}
}

func failed(request *Request, err error) *Response {
	return &Response{
		UID: request.UID, ConvertedObjects: []runtime.RawExtension{},
		Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()},
	}
}

// nameOf names an object by what can be read of it.
func nameOf(index int, object []byte) string {
	named := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(object, named); err != nil || named.Name == "" {
		return fmt.Sprintf("object %d", index)
	}
	return fmt.Sprintf("%s %s", named.Kind, klog.KRef(named.Namespace, named.Name))
}
