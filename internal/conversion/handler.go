package conversion

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
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
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logger := klog.FromContext(r.Context()).WithValues("path", r.URL.Path)
		review, problem := readReview(w, r)
		if problem != nil {
			logger.Info("Refused what is no conversion review", "status", problem.status, "reason", problem.reason)
			http.Error(w, problem.reason, problem.status)
			return
		}
		logger = logger.WithValues("uid", review.Request.UID, "desiredAPIVersion", review.Request.DesiredAPIVersion)
		response, err := answer(f, review.Request)
		if err != nil {
			logger.Error(err, "Conversion webhook failed")
			http.Error(w, "the webhook failed; its log says why", http.StatusInternalServerError)
			return
		}
		if response.Result.Status != metav1.StatusSuccess {
			logger.Info("Refused to convert", "reason", response.Result.Message)
		}
		if err := writeReview(w, response); err != nil {
			logger.Error(err, "Could not send the answer to a conversion review")
		}
	})
}

// problem is why a request is no conversion review.
type problem struct {
	status int
	reason string
}

func readReview(w http.ResponseWriter, r *http.Request) (*Review, *problem) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, &problem{http.StatusMethodNotAllowed, fmt.Sprintf("method %s: want POST", r.Method)}
	}
	contentType := r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(contentType); err != nil || mediaType != "application/json" {
		return nil, &problem{http.StatusUnsupportedMediaType, fmt.Sprintf("content type %q: want application/json", contentType)}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("body: want at most %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: %v", err)}
	}
	return decodeReview(body)
}

func decodeReview(body []byte) (*Review, *problem) {
	review := &Review{}
	if err := json.Unmarshal(body, review); err != nil {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: want a ConversionReview as JSON: %v", err)}
	}
	if got := review.GroupVersionKind(); got != reviewKind {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: want %v, got %v: set conversionReviewVersions of the definition to v1", reviewKind, got)}
	}
	if review.Request == nil {
		return nil, &problem{http.StatusBadRequest, "body: the ConversionReview has no request"}
	}
	return review, nil
}

// answer converts the objects of a request, and turns a panic into an error.
func answer(f Func, request *Request) (response *Response, err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p) // net/http's own way to give up on a request
		default:
			response, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	converted := make([]runtime.RawExtension, 0, len(request.Objects))
	for i, object := range request.Objects {
		data, err := f(object.Raw, request.DesiredAPIVersion)
		if err != nil {
			return failed(request, fmt.Errorf("%s: %w", describe(i, object.Raw), err)), nil
		}
		converted = append(converted, runtime.RawExtension{Raw: data})
	}
	return &Response{UID: request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}, nil
}

func failed(request *Request, err error) *Response {
	return &Response{
		UID: request.UID, ConvertedObjects: []runtime.RawExtension{},
		Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()},
	}
}

// describe names an object by what can be read of it.
func describe(index int, object []byte) string {
	named := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(object, named); err != nil || named.Name == "" {
		return fmt.Sprintf("object %d", index)
	}
	return fmt.Sprintf("%s %s", named.Kind, klog.KRef(named.Namespace, named.Name))
}

func writeReview(w http.ResponseWriter, response *Response) error {
	apiVersion, kind := reviewKind.ToAPIVersionAndKind()
	data, err := json.Marshal(&Review{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}, Response: response})
	if err != nil {
		http.Error(w, "the webhook's answer cannot be encoded", http.StatusInternalServerError)
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}
