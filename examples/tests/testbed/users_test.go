// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A write without a verdict is sent again, whole. Whatever else the API server answers is for the test.
func TestWritesAreRepeated(t *testing.T) {
	const (
		late      = `Internal error occurred: failed calling webhook "v.kb.io": failed to call webhook: Post "https://127.0.0.1:1/": context deadline exceeded`
		broken    = `Internal error occurred: failed calling webhook "v.kb.io": failed to call webhook: Post "https://127.0.0.1:1/": connection refused`
		unchecked = `299 - "spec.template was checked only in part, because the API server gave no verdict on it"`
	)
	for _, test := range []struct {
		name, method, query, contentType string
		code                             int
		body, warning                    string
		want                             int // requests
	}{
		{name: "webhook too late", method: http.MethodPost, code: 500, body: late, want: 3},
		{name: "webhook too late for a deletion", method: http.MethodDelete, code: 500, body: late, want: 3},
		{name: "webhook that is broken", method: http.MethodPost, code: 500, body: broken, want: 1},
		{name: "refused", method: http.MethodPut, code: 422, body: late, want: 1},
		{name: "merge that took too long", method: http.MethodPatch, contentType: "application/merge-patch+json", code: 504, want: 3},
		{name: "patch that took too long", method: http.MethodPatch, contentType: "application/json-patch+json", code: 504, want: 1},
		{name: "creation that took too long", method: http.MethodPost, contentType: "application/json", code: 504, want: 1},
		{name: "read", method: http.MethodGet, code: 500, body: late, want: 1},
		{name: "dry run that is not checked", method: http.MethodPost, query: "?dryRun=All", code: 201, warning: unchecked, want: 3},
		{name: "stored without being checked", method: http.MethodPost, code: 201, warning: unchecked, want: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != "the object" {
					t.Errorf("request %d has the body %q, error %v", asked, body, err)
				}
				if asked == 3 {
					_, _ = io.WriteString(w, "done")
					return
				}
				if test.warning != "" {
					w.Header().Add("Warning", test.warning)
				}
				w.WriteHeader(test.code)
				_, _ = io.WriteString(w, test.body)
			}))
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+"/"+test.query, strings.NewReader("the object"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", test.contentType)
			response, err := (&http.Client{Transport: &repeating{http.DefaultTransport}}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			want := test.body
			if test.want == 3 {
				want = "done"
			}
			if err != nil || asked != test.want || string(body) != want {
				t.Errorf("%d requests, the answer %q, error %v; want %d and %q", asked, body, err, test.want, want)
			}
		})
	}
}
