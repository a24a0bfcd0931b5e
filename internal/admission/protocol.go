// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/klog/v2"
)

// protocol is what webhooks of the API server have in common. A review comes in by POST
// as JSON with a request in it, and goes out again with the response. Its fields are what
// one kind of review adds. R is its Go type, a pointer to a struct with TypeMeta. Every
// field is required.
type protocol[R schema.ObjectKind] struct {
	// kind of the reviews, in both directions.
	kind schema.GroupVersionKind
	// versionsField is where a user says which versions the webhook speaks, as
	// in "admissionReviewVersions of the webhook".
	versionsField string
	// maxBodyBytes is the size of the largest review that is read.
	maxBodyBytes int64
	// empty returns an empty review.
	empty func() R
	// describe returns what the log tells of a request, as keys and values; nil
	// if the review has no request.
	describe func(review R) []any
	// respond makes the review that goes back; its kind is set by the handler. The
	// context ends when the API server no longer waits, and carries a logger
	// with the description. An error is for the log, not for the API server.
	respond func(ctx context.Context, review R) (R, error)
}

// handler serves the protocol.
//
// What is no review of the kind is answered with the HTTP status 405 (not
// POSTed), 415 (not JSON), 413 (larger than maxBodyBytes) or 400. A respond that
// fails or panics gives 500 and an entry in the log.
func (p protocol[R]) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logger := klog.FromContext(r.Context()).WithValues("path", r.URL.Path)
		review, problem := p.read(w, r)
		if problem != nil {
			logger.Info("Refused what is no review", "want", p.kind.Kind, "status", problem.status, "reason", problem.reason)
			http.Error(w, problem.reason, problem.status)
			return
		}
		logger = logger.WithValues(p.describe(review)...)
		ctx, cancel := withTimeout(r)
		defer cancel()
		answer, err := p.answer(klog.NewContext(ctx, logger), review)
		if err != nil {
			logger.Error(err, "Webhook failed")
			http.Error(w, "the webhook failed; its log says why", http.StatusInternalServerError)
			return
		}
		if err := p.write(w, answer); err != nil {
			logger.Error(err, "Could not send the answer to a review")
		}
	})
}

// withTimeout returns the context of a request, which ends when the time is over that
// the API server says it waits. It says so in the URL.
func withTimeout(r *http.Request) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		return r.Context(), func() {}
	}
	return context.WithTimeout(r.Context(), timeout)
}

// problem is why a request is no review.
type problem struct {
	status int
	reason string
}

func (p protocol[R]) read(w http.ResponseWriter, r *http.Request) (review R, _ *problem) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return review, &problem{http.StatusMethodNotAllowed, fmt.Sprintf("method %s: want POST", r.Method)}
	}
	contentType := r.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(contentType); err != nil || mediaType != "application/json" {
		return review, &problem{http.StatusUnsupportedMediaType, fmt.Sprintf("content type %q: want application/json", contentType)}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.maxBodyBytes))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return review, &problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("body: want at most %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return review, &problem{http.StatusBadRequest, fmt.Sprintf("body: %v", err)}
	}
	review = p.empty()
	if err := p.decode(body, review); err != nil {
		return review, &problem{http.StatusBadRequest, fmt.Sprintf("body: %v", err)}
	}
	return review, nil
}

func (p protocol[R]) decode(body []byte, review R) error {
	if err := json.Unmarshal(body, review); err != nil {
		return fmt.Errorf("want JSON of the kind %s: %w", p.kind.Kind, err)
	}
	if got := review.GroupVersionKind(); got != p.kind {
		return fmt.Errorf("want %v, got %v: set %s to %s", p.kind, got, p.versionsField, p.kind.Version)
	}
	if p.describe(review) == nil {
		return fmt.Errorf("the %s has no request", p.kind.Kind)
	}
	return nil
}

// answer turns a panic into an error.
func (p protocol[R]) answer(ctx context.Context, review R) (answer R, err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			panic(cause) // net/http's own way to give up on a request
		default:
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return p.respond(ctx, review)
}

func (p protocol[R]) write(w http.ResponseWriter, answer R) error {
	answer.SetGroupVersionKind(p.kind)
	data, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, "the webhook's answer cannot be encoded", http.StatusInternalServerError)
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return err
}
