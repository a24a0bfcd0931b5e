package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
)

// MaxBodyBytes is the size of the largest review that a Handler reads. The API
// server takes objects of up to 3 MiB, and a review holds two.
const MaxBodyBytes = 8 << 20

// Func answers an admission request. The request is not nil and is the
// function's own. The context ends when the API server no longer waits, and
// carries a logger that names the object. The function may leave the UID of
// its answer empty. It must not answer nil.
type Func func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// Handler serves a Func to the API server.
//
// What is no admission review is answered with the HTTP status 405 (not
// POSTed), 415 (not JSON), 413 (larger than MaxBodyBytes) or 400. A function that
// panics or answers nil gives 500 and an entry in the log; the API server then
// acts on the webhook's failurePolicy.
func Handler(f Func) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review, problem := readReview(w, r)
		if problem != nil {
			klog.FromContext(r.Context()).Info("Refused what is no admission review", "path", r.URL.Path, "status", problem.status, "reason", problem.reason)
			http.Error(w, problem.reason, problem.status)
			return
		}
		logger := klog.LoggerWithValues(klog.FromContext(r.Context()),
			"operation", review.Request.Operation, "kind", review.Request.Kind.Kind,
			"object", klog.KRef(review.Request.Namespace, review.Request.Name), "uid", review.Request.UID)
		response, err := answer(klog.NewContext(r.Context(), logger), f, review.Request)
		if err != nil {
			logger.Error(err, "Admission webhook failed", "path", r.URL.Path)
			http.Error(w, "the webhook failed; its log says why", http.StatusInternalServerError)
			return
		}
		if err := writeReview(w, response); err != nil {
			logger.Error(err, "Could not send the answer to an admission review", "path", r.URL.Path)
		}
	})
}

// problem is why a request is no admission review.
type problem struct {
	status int
	reason string
}

func readReview(w http.ResponseWriter, r *http.Request) (*admissionv1.AdmissionReview, *problem) {
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

func decodeReview(body []byte) (*admissionv1.AdmissionReview, *problem) {
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(body, review); err != nil {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: want an AdmissionReview as JSON: %v", err)}
	}
	want := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview")
	if got := review.GroupVersionKind(); got != want {
		return nil, &problem{http.StatusBadRequest, fmt.Sprintf("body: want %v, got %v: set admissionReviewVersions of the webhook to v1", want, got)}
	}
	if review.Request == nil {
		return nil, &problem{http.StatusBadRequest, "body: the AdmissionReview has no request"}
	}
	return review, nil
}

// answer calls the function, and turns a panic or a missing answer into an error.
func answer(ctx context.Context, f Func, request *admissionv1.AdmissionRequest) (response *admissionv1.AdmissionResponse, err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p) // net/http's own way to give up on a request
		default:
			response, err = nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	uid := request.UID
	given := f(ctx, request)
	if given == nil {
		return nil, errors.New("the webhook gave no answer: want an AdmissionResponse, got nil")
	}
	copied := *given // the function may give the same answer to many
	copied.UID = uid
	return &copied, nil
}

func writeReview(w http.ResponseWriter, response *admissionv1.AdmissionResponse) error {
	data, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Response: response,
	})
	if err != nil {
		http.Error(w, "the webhook's answer cannot be encoded", http.StatusInternalServerError)
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}
