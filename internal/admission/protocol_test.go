// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// sum is a review that asks for the sum of numbers.
type sum struct {
	metav1.TypeMeta `json:",inline"`

	Request  []int                 `json:"request,omitempty"`
	Response *runtime.RawExtension `json:"response,omitempty"`
}

const question = `{"apiVersion":"math.io/v1","kind":"Sum","request":[1,2]}`

// adding answers with the given text.
func adding(answer func() (string, error)) protocol[*sum] {
	return protocol[*sum]{
		kind:          schema.GroupVersionKind{Group: "math.io", Version: "v1", Kind: "Sum"},
		versionsField: "versions of the calculator",
		maxBodyBytes:  100,
		empty:         func() *sum { return &sum{} },
		describe: func(review *sum) []any {
			if review.Request == nil {
				return nil
			}
			return []any{"numbers", len(review.Request)}
		},
		respond: func(ctx context.Context, _ *sum) (*sum, error) {
			klog.FromContext(ctx).Info("Adding up")
			text, err := answer()
			return &sum{Response: &runtime.RawExtension{Raw: []byte(text)}}, err
		},
	}
}

// ask sends a request to a protocol and returns the answer and the log.
func ask(p protocol[*sum], method, contentType, body string) (*httptest.ResponseRecorder, string) {
	var log bytes.Buffer
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log)))
	request := httptest.NewRequest(method, "/sum", strings.NewReader(body)).WithContext(klog.NewContext(context.Background(), logger))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	p.handler().ServeHTTP(recorder, request)
	return recorder, log.String()
}

func three() (string, error) { return "3", nil }

func TestProtocol(t *testing.T) {
	const jsonType = "application/json"
	boom := func() (string, error) { panic("boom") }
	fails := func() (string, error) { return "", errors.New("boom") }
	broken := func() (string, error) { return "{", nil }
	for _, test := range []struct {
		name, method, contentType, body string
		answer                          func() (string, error)
		status                          int
		want, log                       string
	}{
		{"a review", "POST", jsonType, question, three, 200, `{"kind":"Sum","apiVersion":"math.io/v1","response":3}`, `"Adding up" path="/sum" numbers=2`},
		{"with a charset", "POST", jsonType + "; charset=utf-8", question, three, 200, `"response":3`, "Adding up"},
		{"not POSTed", "PUT", jsonType, question, three, 405, "method PUT: want POST", "status=405"},
		{"another content type", "POST", "text/plain", question, three, 415, `content type "text/plain": want application/json`, "status=415"},
		{"no content type", "POST", "", question, three, 415, `content type "": want application/json`, "status=415"},
		{"as large as allowed", "POST", jsonType, question + strings.Repeat(" ", 100-len(question)), three, 200, `"response":3`, "Adding up"},
		{"too large", "POST", jsonType, question + strings.Repeat(" ", 101-len(question)), three, 413, "body: want at most 100 bytes", "status=413"},
		{"nothing", "POST", jsonType, "", three, 400, "body: want JSON of the kind Sum", "status=400"},
		{"no JSON", "POST", jsonType, "{", three, 400, "body: want JSON of the kind Sum", "status=400"},
		{"null", "POST", jsonType, "null", three, 400, "body: want math.io/v1, Kind=Sum, got /, Kind=", "status=400"},
		{"another version", "POST", jsonType, strings.Replace(question, "v1", "v2", 1), three, 400,
			"got math.io/v2, Kind=Sum: set versions of the calculator to v1", "status=400"},
		{"no request", "POST", jsonType, `{"apiVersion":"math.io/v1","kind":"Sum"}`, three, 400, "body: the Sum has no request", `want="Sum" status=400`},
		{"an answer that fails", "POST", jsonType, question, fails, 500, "its log says why", `"Webhook failed" err="boom" path="/sum" numbers=2`},
		{"an answer that panics", "POST", jsonType, question, boom, 500, "its log says why", "panic: boom"},
		{"an answer that is no JSON", "POST", jsonType, question, broken, 500, "cannot be encoded", "Could not send the answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, log := ask(adding(test.answer), test.method, test.contentType, test.body)
			if got.Code != test.status || !strings.Contains(got.Body.String(), test.want) || strings.Contains(got.Body.String(), "boom") {
				t.Errorf("answer %d %s, want %d with %q and no inner error", got.Code, got.Body, test.status, test.want)
			}
			if !strings.Contains(log, test.log) {
				t.Errorf("log %q, want %q", log, test.log)
			}
			if contentType := got.Header().Get("Content-Type"); test.status == http.StatusOK && contentType != jsonType {
				t.Errorf("content type %q, want %q", contentType, jsonType)
			}
			if allow := got.Header().Get("Allow"); test.status == http.StatusMethodNotAllowed && allow != http.MethodPost {
				t.Errorf("Allow %q, want POST", allow)
			}
		})
	}
}

func TestProtocolLetsAbortPass(t *testing.T) {
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("recovered %v, want http.ErrAbortHandler", p)
		}
	}()
	ask(adding(func() (string, error) { panic(http.ErrAbortHandler) }), "POST", "application/json", question)
}

// The API server says in the URL how long it waits.
func TestProtocolEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for timeout, want := range map[string]time.Duration{"?timeout=2s": 2 * time.Second, "": 0, "?timeout=soon": 0, "?timeout=-1s": 0} {
			p := adding(three)
			p.respond = func(ctx context.Context, _ *sum) (*sum, error) {
				deadline, limited := ctx.Deadline()
				if limited != (want > 0) || limited && time.Until(deadline) != want {
					t.Errorf("%q: ends %t in %v, want in %v", timeout, limited, time.Until(deadline), want)
				}
				return &sum{}, nil
			}
			request := httptest.NewRequest("POST", "/sum"+timeout, strings.NewReader(question))
			request.Header.Set("Content-Type", "application/json")
			p.handler().ServeHTTP(httptest.NewRecorder(), request)
		}
	})
}

func FuzzProtocol(f *testing.F) {
	for _, seed := range []string{question, "", "{", "null", "[]", `{"request":[]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, _ := ask(adding(three), "POST", "application/json", body)
		if got.Code != 200 && got.Code != 400 && got.Code != 413 {
			t.Errorf("answer %d to %q", got.Code, body)
		}
	})
}
