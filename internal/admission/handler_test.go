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
func post(t testing.TB, f admission.Func, contentType, body string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))
	request := httptest.NewRequest(http.MethodPost, "/validate", strings.NewReader(body)).WithContext(klog.NewContext(context.Background(), logger))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	admission.Handler(f).ServeHTTP(recorder, request)
	return recorder, log.String()
}

func allow(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return admission.Allowed()
}

func TestHandlerAnswers(t *testing.T) {
	var seen *admissionv1.AdmissionRequest
	shared := &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"careful"}}
	got, _ := post(t, func(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		seen = r
		return shared
	}, "application/json; charset=utf-8", review)

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

func TestHandlerRefuses(t *testing.T) {
	const jsonType = "application/json"
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want                    string
	}{
		{"another content type", "application/yaml", review, 415, `content type "application/yaml": want application/json`},
		{"no content type", "", review, 415, `content type "": want application/json`},
		{"an empty body", jsonType, "", 400, "want JSON of the kind AdmissionReview"},
		{"no JSON", jsonType, "{", 400, "want JSON of the kind AdmissionReview"},
		{"null", jsonType, "null", 400, "got /, Kind="},
		{"another kind", jsonType, `{"apiVersion":"v1","kind":"Pod"}`, 400, "got /v1, Kind=Pod"},
		{"the version v1beta1", jsonType, strings.Replace(review, "k8s.io/v1", "k8s.io/v1beta1", 1), 400, "set admissionReviewVersions of the webhook to v1"},
		{"no request", jsonType, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, 400, "the AdmissionReview has no request"},
		{"a body that is too large", jsonType, strings.Repeat(" ", admission.MaxBodyBytes+1), 413, "want at most 8388608 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			called := false
			got, log := post(t, func(ctx context.Context, r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
				called = true
				return admission.Allowed()
			}, test.contentType, test.body)
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.want) {
				t.Errorf("answer %d %s, want %d with %q", got.Code, got.Body, test.status, test.want)
			}
			if called {
				t.Error("the function was called")
			}
			if !strings.Contains(log, `Refused what is no review" path="/validate" want="AdmissionReview"`) {
				t.Errorf("log %q says nothing of it", log)
			}
		})
	}
}

func TestHandlerTakesOnlyPOST(t *testing.T) {
	recorder := httptest.NewRecorder()
	admission.Handler(allow).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	if recorder.Code != http.StatusMethodNotAllowed || recorder.Header().Get("Allow") != "POST" {
		t.Errorf("answer %d, Allow %q, want 405, POST", recorder.Code, recorder.Header().Get("Allow"))
	}
}

func TestHandlerSurvivesTheFunction(t *testing.T) {
	for _, test := range []struct {
		name string
		f    admission.Func
		log  string
	}{
		{"a panic", func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { panic("boom") }, "panic: boom"},
		{"no answer", func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { return nil }, "got nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, log := post(t, test.f, "application/json", review)
			if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "boom") {
				t.Errorf("answer %d %s, want 500 without details", got.Code, got.Body)
			}
			for _, want := range []string{test.log, `kind="CloneSet"`, `object="shop/web"`, `operation="CREATE"`, `uid="u-1"`} {
				if !strings.Contains(log, want) {
					t.Errorf("log %q does not say %q", log, want)
				}
			}
		})
	}
}

func TestHandlerLetsAbortPass(t *testing.T) {
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", p)
		}
	}()
	post(t, func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		panic(http.ErrAbortHandler)
	}, "application/json", review)
}

func FuzzHandler(f *testing.F) {
	for _, seed := range []string{review, "", "{", "null", "[]", `{"request":{}}`, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":null,"uid":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, _ := post(t, allow, "application/json", body)
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
