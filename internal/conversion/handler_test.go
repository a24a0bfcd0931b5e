package conversion_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/podwright/podwright/internal/conversion"
)

// review asks for the given objects, separated by commas, in version x/v2.
func review(objects string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1","desiredAPIVersion":"x/v2","objects":[` + objects + `]}}`
}

// post sends a body to a handler and returns the answer and what was logged.
func post(t testing.TB, f conversion.Func, contentType, body string) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var log bytes.Buffer
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))
	request := httptest.NewRequest(http.MethodPost, "/convert", strings.NewReader(body)).WithContext(klog.NewContext(context.Background(), logger))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	conversion.Handler(f).ServeHTTP(recorder, request)
	return recorder, log.String()
}

// wrap is a conversion that puts the object and the version into a list.
func wrap(object []byte, apiVersion string) ([]byte, error) {
	return []byte(`["` + apiVersion + `",` + string(object) + `]`), nil
}

func TestHandlerAnswers(t *testing.T) {
	const head = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"u-1","convertedObjects":[`
	const success, failure = `],"result":{"metadata":{},"status":"Success"}}}`, `],"result":{"metadata":{},"status":"Failure","message":"`
	refuse := func(object []byte, version string) ([]byte, error) {
		if bytes.Contains(object, []byte("bad")) || object == nil {
			return nil, errors.New("spec: want another one")
		}
		return object, nil
	}
	for _, test := range []struct {
		name    string
		f       conversion.Func
		objects string
		want    string
	}{
		{"no object", wrap, ``, head + success},
		{"objects, in their order", wrap, `{"a":1},{"b":2}`, head + `["x/v2",{"a":1}],["x/v2",{"b":2}]` + success},
		{"one bad object fails all and is named", refuse, `{"a":1},{"kind":"Set","metadata":{"namespace":"shop","name":"bad"}}`, head + failure + `Set shop/bad: spec: want another one"}}}`},
		{"a bad object without a name", refuse, `{"a":1},{"bad":1}`, head + failure + `object 1: spec: want another one"}}}`},
		{"a bad object that is none", refuse, `"bad"`, head + failure + `object 0: spec: want another one"}}}`},
		{"null instead of an object", refuse, `null`, head + failure + `object 0: spec: want another one"}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, log := post(t, test.f, "application/json; charset=utf-8", review(test.objects))
			if got.Code != http.StatusOK || got.Body.String() != test.want {
				t.Errorf("answer %d\n%s, want 200\n%s", got.Code, got.Body, test.want)
			}
			if contentType := got.Header().Get("Content-Type"); contentType != "application/json" {
				t.Errorf("content type %q, want application/json", contentType)
			}
			if failed := strings.Contains(test.want, "Failure"); failed != strings.Contains(log, "Refused to convert") {
				t.Errorf("log %q, the answer was a failure: %t", log, failed)
			}
		})
	}
}

func TestHandlerRefuses(t *testing.T) {
	const jsonType = "application/json"
	for _, test := range []struct {
		name, contentType, body string
		status                  int
		want                    string
	}{
		{"another content type", "application/yaml", review(""), 415, `content type "application/yaml": want application/json`},
		{"no content type", "", review(""), 415, `content type "": want application/json`},
		{"an empty body", jsonType, "", 400, "want JSON of the kind ConversionReview"},
		{"no JSON", jsonType, "{", 400, "want JSON of the kind ConversionReview"},
		{"objects that are no list", jsonType, strings.Replace(review(""), "[]", "{}", 1), 400, "want JSON of the kind ConversionReview"},
		{"null", jsonType, "null", 400, "got /, Kind="},
		{"another kind", jsonType, `{"apiVersion":"v1","kind":"Pod"}`, 400, "got /v1, Kind=Pod"},
		{"the version v1beta1", jsonType, strings.Replace(review(""), "k8s.io/v1", "k8s.io/v1beta1", 1), 400, "set conversionReviewVersions of the definition to v1"},
		{"no request", jsonType, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, 400, "the ConversionReview has no request"},
		{"a body that is too large", jsonType, strings.Repeat(" ", conversion.MaxBodyBytes+1), 413, "want at most 33554432 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, log := post(t, wrap, test.contentType, test.body)
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.want) {
				t.Errorf("answer %d %s, want %d with %q", got.Code, got.Body, test.status, test.want)
			}
			if !strings.Contains(log, `Refused what is no review" path="/convert" want="ConversionReview"`) {
				t.Errorf("log %q says nothing of it", log)
			}
		})
	}
}

func TestHandlerTakesOnlyPOST(t *testing.T) {
	recorder := httptest.NewRecorder()
	conversion.Handler(wrap).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	if recorder.Code != http.StatusMethodNotAllowed || recorder.Header().Get("Allow") != "POST" {
		t.Errorf("answer %d, Allow %q, want 405, POST", recorder.Code, recorder.Header().Get("Allow"))
	}
}

func TestHandlerSurvivesTheFunction(t *testing.T) {
	for _, test := range []struct {
		name string
		f    conversion.Func
		log  string
	}{
		{"a panic", func([]byte, string) ([]byte, error) { panic("boom") }, "panic: boom"},
		{"an answer that is no JSON", func([]byte, string) ([]byte, error) { return []byte("{"), nil }, "Could not send the answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, log := post(t, test.f, "application/json", review("{}"))
			if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "boom") {
				t.Errorf("answer %d %s, want 500 without details", got.Code, got.Body)
			}
			for _, want := range []string{test.log, `uid="u-1"`, `desiredAPIVersion="x/v2"`} {
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
	post(t, func([]byte, string) ([]byte, error) { panic(http.ErrAbortHandler) }, "application/json", review("{}"))
}

func FuzzHandler(f *testing.F) {
	for _, seed := range []string{
		review(""), review("{},null,[]"), "", "{", "null", "[]", `{"request":{}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"objects":null,"uid":1}}`,
	} {
		f.Add(seed)
	}
	same := func(object []byte, _ string) ([]byte, error) { return object, nil }
	f.Fuzz(func(t *testing.T, body string) {
		got, _ := post(t, same, "application/json", body)
		switch got.Code {
		case http.StatusBadRequest:
		case http.StatusOK:
			var in, out conversion.Review
			if err := json.Unmarshal(got.Body.Bytes(), &out); err != nil {
				t.Fatalf("answer %s: %v", got.Body, err)
			}
			if err := json.Unmarshal([]byte(body), &in); err != nil {
				t.Fatalf("accepted %q: %v", body, err)
			}
			if diff := cmp.Diff(in.Request.UID, out.Response.UID); diff != "" {
				t.Errorf("UID (-want +got):\n%s", diff)
			}
			if want, got := len(in.Request.Objects), len(out.Response.ConvertedObjects); want != got {
				t.Errorf("%d objects became %d", want, got)
			}
		default:
			t.Errorf("answer %d to %q", got.Code, body)
		}
	})
}
