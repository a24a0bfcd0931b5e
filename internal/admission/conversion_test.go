// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/admission"
)

// conversionOf asks for the given objects, separated by commas, in version x/v2.
func conversionOf(objects string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u-1","desiredAPIVersion":"x/v2","objects":[` + objects + `]}}`
}

// wrap is a conversion that puts the object and the version into a list.
func wrap(object []byte, apiVersion string) ([]byte, error) {
	return []byte(`["` + apiVersion + `",` + string(object) + `]`), nil
}

func TestConversionHandlerAnswers(t *testing.T) {
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
		f       admission.ConvertFunc
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
			got, log := post(t, admission.ConversionHandler(test.f), conversionOf(test.objects))
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

func TestConversionHandlerRefuses(t *testing.T) {
	refuses(t, admission.ConversionHandler(wrap), "ConversionReview", map[string]refusal{
		"objects that are no list": {strings.Replace(conversionOf(""), "[]", "{}", 1), 400, "want JSON of the kind ConversionReview"},
		"the version v1beta1":      {strings.Replace(conversionOf(""), "k8s.io/v1", "k8s.io/v1beta1", 1), 400, "set conversionReviewVersions of the definition to v1"},
		"no request":               {`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, 400, "the ConversionReview has no request"},
		"a body that is too large": {strings.Repeat(" ", admission.MaxConversionBytes+1), 413, "want at most 33554432 bytes"},
	})
}

func TestConversionHandlerSurvivesTheFunction(t *testing.T) {
	survives(t, conversionOf("{}"), []string{`uid="u-1"`, `desiredAPIVersion="x/v2"`}, map[string]failure{
		"a panic":                   {admission.ConversionHandler(func([]byte, string) ([]byte, error) { panic("boom") }), "panic: boom"},
		"an answer that is no JSON": {admission.ConversionHandler(func([]byte, string) ([]byte, error) { return []byte("{"), nil }), "Could not send the answer"},
	})
}

func FuzzConversionHandler(f *testing.F) {
	for _, seed := range []string{
		conversionOf(""), conversionOf("{},null,[]"), "", "{", "null", "[]", `{"request":{}}`,
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"objects":null,"uid":1}}`,
	} {
		f.Add(seed)
	}
	same := func(object []byte, _ string) ([]byte, error) { return object, nil }
	f.Fuzz(func(t *testing.T, body string) {
		got, _ := post(t, admission.ConversionHandler(same), body)
		switch got.Code {
		case http.StatusBadRequest:
		case http.StatusOK:
			var in, out admission.ConversionReview
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
