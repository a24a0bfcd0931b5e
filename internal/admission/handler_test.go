// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/podwright/podwright/internal/admission"
)

const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","kind":{"group":"apps.kruise.io","version":"v1alpha1","kind":"CloneSet"},` +
	`"resource":{"group":"apps.kruise.io","version":"v1alpha1","resource":"clonesets"},"operation":"CREATE","namespace":"shop","name":"web","object":{"spec":{"replicas":3}}}}`

// post sends a body to a handler and returns the answer and what was logged.
func post(t testing.TB, handler http.Handler, body string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))
	request := httptest.NewRequest(http.MethodPost, "/webhook", strings.NewReader(body)).WithContext(klog.NewContext(context.Background(), logger))
	request.Header.Set("Content-Type", "application/json; charset=utf-8")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder, log.String()
}

func allow(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return admission.Allowed()
}

func TestHandlerAnswers(t *testing.T) {
	var seen *admissionv1.AdmissionRequest
	shared := &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"careful"}}
	got, _ := post(t, admission.Handler(func(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		seen = r
		return shared
	}), review)

	want := `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":true,"warnings":["careful"]}}`
	if got.Code != http.StatusOK || got.Body.String() != want {
		t.Errorf("answer %d %s, want 200 %s", got.Code, got.Body, want)
	}
	if contentType := got.Header().Get("Content-Type"); contentType != "application/json" {
		t.Errorf("content type %q, want application/json", contentType)
	}
	if seen.Name != "web" || string(seen.Object.Raw) != `{"spec":{"replicas":3}}` {
		t.Errorf("the function saw %s with the object %s", seen.Name, seen.Object.Raw)
	}
	if shared.UID != "" {
		t.Error("the handler wrote into the function's answer")
	}
}

// refusal is a body that is no review, and what a handler says of it.
type refusal struct {
	body   string
	status int
	want   string
}

// refuses shows what is of the kind of review in a protocol; TestProtocol shows
// the rest.
func refuses(t *testing.T, handler http.Handler, kind string, tests map[string]refusal) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, log := post(t, handler, test.body)
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.want) {
				t.Errorf("answer %d %s, want %d with %q", got.Code, got.Body, test.status, test.want)
			}
			if !strings.Contains(log, `Refused what is no review" path="/webhook" want="`+kind+`"`) {
				t.Errorf("log %q says nothing of it", log)
			}
		})
	}
}

func TestHandlerRefuses(t *testing.T) {
	called := false
	handler := admission.Handler(func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		called = true
		return admission.Allowed()
	})
	refuses(t, handler, "AdmissionReview", map[string]refusal{
		"null":                     {"null", 400, "got /, Kind="},
		"another kind":             {`{"apiVersion":"v1","kind":"Pod"}`, 400, "got /v1, Kind=Pod"},
		"the version v1beta1":      {strings.Replace(review, "k8s.io/v1", "k8s.io/v1beta1", 1), 400, "set admissionReviewVersions of the webhook to v1"},
		"no request":               {`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "the AdmissionReview has no request"},
		"a body that is too large": {strings.Repeat(" ", admission.MaxBodyBytes+1), 413, "want at most 8388608 bytes"},
	})
	if called {
		t.Error("the function was called")
	}
}

// failure is a handler whose function fails, and what the log says of it.
type failure struct {
	handler http.Handler
	log     string
}

// survives shows that a function that fails gives 500, and an entry in the log
// that says which request it was.
func survives(t *testing.T, review string, request []string, tests map[string]failure) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, log := post(t, test.handler, review)
			if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "boom") {
				t.Errorf("answer %d %s, want 500 without details", got.Code, got.Body)
			}
			for _, want := range append(request, test.log) {
				if !strings.Contains(log, want) {
					t.Errorf("log %q does not say %q", log, want)
				}
			}
		})
	}
}

func TestHandlerSurvivesTheFunction(t *testing.T) {
	type request = admissionv1.AdmissionRequest
	type response = admissionv1.AdmissionResponse
	survives(t, review, []string{`kind="CloneSet"`, `object="shop/web"`, `operation="CREATE"`, `uid="u-1"`}, map[string]failure{
		"a panic":   {admission.Handler(func(context.Context, *request) *response { panic("boom") }), "panic: boom"},
		"no answer": {admission.Handler(func(context.Context, *request) *response { return nil }), "got nil"},
	})
}

func FuzzHandler(f *testing.F) {
	for _, seed := range []string{review, "", "{", "null", "[]", `{"request":{}}`, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":null,"uid":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, _ := post(t, admission.Handler(allow), body)
		switch got.Code {
		case http.StatusBadRequest:
		case http.StatusOK:
			var in, out admissionv1.AdmissionReview
			if err := json.Unmarshal(got.Body.Bytes(), &out); err != nil {
				t.Fatalf("answer %s: %v", got.Body, err)
			}
			if err := json.Unmarshal([]byte(body), &in); err != nil {
				t.Fatalf("accepted %q: %v", body, err)
			}
			if diff := cmp.Diff(in.Request.UID, out.Response.UID); diff != "" {
				t.Errorf("UID (-want +got):\n%s", diff)
			}
		default:
			t.Errorf("answer %d to %q", got.Code, body)
		}
	})
}
