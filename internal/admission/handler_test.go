// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/podwright/podwright/internal/admission"
)

const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","kind":{"group":"apps.kruise.io","version":"v1alpha1","kind":"CloneSet"},` +
	`"resource":{"group":"apps.kruise.io","version":"v1alpha1","resource":"clonesets"},"operation":"CREATE","namespace":"shop","name":"web","object":{"spec":{"replicas":3}}}}`

// conversion asks for the given objects, separated by commas, in version x/v2.
func conversion(objects string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1","desiredAPIVersion":"x/v2","objects":[` + objects + `]}}`
}

// ask serves a request, and returns the answer and what was logged.
func ask(handler http.Handler, request *http.Request) (*httptest.ResponseRecorder, string) {
	var log bytes.Buffer
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request.WithContext(klog.NewContext(context.Background(), logger)))
	return recorder, log.String()
}

// post is ask for a body.
func post(handler http.Handler, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder, _ := ask(handler, request)
	return recorder
}

func allow(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return admission.Allowed()
}

// shared is the answer to several requests.
var shared = &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"careful"}}

// judge fails as the name of the object says.
func judge(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	klog.FromContext(ctx).Info("Asked", "about", string(r.Object.Raw))
	switch r.Name {
	case "panic":
		panic("boom")
	case "none":
		return nil
	}
	return shared
}

// convert puts object and version into a list, if the object does not say otherwise.
func convert(object []byte, version string) ([]byte, error) {
	switch {
	case object == nil, bytes.Contains(object, []byte("bad")):
		return nil, errors.New("spec: want another one")
	case bytes.Contains(object, []byte("panic")):
		panic("boom")
	case bytes.Contains(object, []byte("broken")):
		return []byte("{"), nil
	}
	return []byte(`["` + version + `",` + string(object) + `]`), nil
}

var (
	logged = regexp.MustCompile(`(?m)^[IE]\d{4} [^]]*\] `)
	stack  = regexp.MustCompile(`(?s)\n\tgoroutine .*?\n >`)
)

// TestHandlers shows what handlers answer to the requests in testdata/reviews.txt, and what they log.
//
//	admission, conversion [size=n] [method=x] [type=x]
//	                sends the body that follows, with blanks behind it if it is to have a size
func TestHandlers(t *testing.T) {
	handlers := map[string]http.Handler{"admission": admission.Handler(judge), "conversion": admission.ConversionHandler(convert)}
	datadriven.RunTest(t, "testdata/reviews.txt", func(t *testing.T, d *datadriven.TestData) string {
		body, method, contentType, size := d.Input, http.MethodPost, "application/json; charset=utf-8", 0
		for name, value := range map[string]any{"method": &method, "type": &contentType, "size": &size} {
			if d.HasArg(name) {
				d.ScanArgs(t, name, value)
			}
		}
		body += strings.Repeat(" ", max(0, size-len(body)))
		request := httptest.NewRequest(method, "/webhook", strings.NewReader(body))
		request.Header.Set("Content-Type", contentType)
		answer, log := ask(handlers[d.Cmd], request)
		out := fmt.Sprintln(answer.Code, strings.TrimSpace(answer.Body.String()))
		for _, name := range []string{"Content-Type", "Allow"} {
			if value := answer.Header().Get(name); value != "" {
				out += fmt.Sprintln(name+":", value)
			}
		}
		if shared.UID != "" {
			t.Error("the handler wrote into the function's answer")
		}
		return out + stack.ReplaceAllString(logged.ReplaceAllString(log, ""), "")
	})
}

// answered posts a body that is no review, or one that is answered; that is decoded, and what is sent back too.
func answered[R any](t *testing.T, handler http.Handler, body string) (in, out R, ok bool) {
	t.Helper()
	got := post(handler, body)
	switch got.Code {
	case http.StatusBadRequest:
		return in, out, false
	case http.StatusOK:
		if err := errors.Join(json.Unmarshal(got.Body.Bytes(), &out), json.Unmarshal([]byte(body), &in)); err != nil {
			t.Fatalf("answer %s to %q: %v", got.Body, body, err)
		}
		return in, out, true
	}
	t.Fatalf("answer %d to %q", got.Code, body)
	return in, out, false
}

func FuzzHandler(f *testing.F) {
	for _, seed := range []string{review, "", "{", "null", "[]", `{"request":{}}`, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":null,"uid":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if in, out, ok := answered[admissionv1.AdmissionReview](t, admission.Handler(allow), body); ok && in.Request.UID != out.Response.UID {
			t.Errorf("UID %q became %q", in.Request.UID, out.Response.UID)
		}
	})
}

func FuzzConversionHandler(f *testing.F) {
	for _, seed := range []string{
		conversion(""), conversion("{},null,[]"), "", "{", "null", "[]", `{"request":{}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"objects":null,"uid":1}}`,
	} {
		f.Add(seed)
	}
	same := func(object []byte, _ string) ([]byte, error) { return object, nil }
	f.Fuzz(func(t *testing.T, body string) {
		in, out, ok := answered[admission.ConversionReview](t, admission.ConversionHandler(same), body)
		if ok && (in.Request.UID != out.Response.UID || len(in.Request.Objects) != len(out.Response.ConvertedObjects)) {
			t.Errorf("request %q with %d objects became %q with %d", in.Request.UID, len(in.Request.Objects), out.Response.UID, len(out.Response.ConvertedObjects))
		}
	})
}

func TestHandlerLetsAbortPass(t *testing.T) {
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", p)
		}
	}()
	post(admission.Handler(func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		panic(http.ErrAbortHandler)
	}), review)
}

// The API server says in the URL how long it waits.
func TestHandlerEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for timeout, want := range map[string]time.Duration{"?timeout=2s": 2 * time.Second, "": 0, "?timeout=soon": 0, "?timeout=-1s": 0} {
			asked := false
			handler := admission.Handler(func(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				deadline, limited := ctx.Deadline()
				if asked = true; limited != (want > 0) || limited && time.Until(deadline) != want {
					t.Errorf("%q: ends %t in %v, want in %v", timeout, limited, time.Until(deadline), want)
				}
				return shared
			})
			request := httptest.NewRequest(http.MethodPost, "/webhook"+timeout, strings.NewReader(review))
			request.Header.Set("Content-Type", "application/json")
			if ask(handler, request); !asked {
				t.Errorf("%q: the function was not called", timeout)
			}
		}
	})
}
