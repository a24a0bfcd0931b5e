// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	broken := func(*http.Request) error { return errors.New("on fire") }
	waits := func(*http.Request) error { return Note("for a CRD") }
	handler := HealthHandler([]Check{Ping()}, []Check{Ping(), {"waiting", waits}, {"webhook-ready", broken}})
	cases := map[string]struct {
		path string
		code int
		body string
	}{
		"PF-4: alive":                     {"/healthz", 200, "ok"},
		"PF-4: not ready, which check":    {"/readyz", 503, "failed: webhook-ready"},
		"PF-4: not ready, why":            {"/readyz?verbose", 503, "[+] ping\n[+] waiting: for a CRD\n[-] webhook-ready: on fire\nfailed: webhook-ready"},
		"PF-4: one check in order":        {"/readyz/ping", 200, "ok"},
		"a note is no fault":              {"/readyz/waiting", 200, "ok"},
		"a note is told":                  {"/readyz/waiting?verbose", 200, "[+] waiting: for a CRD\nok"},
		"PF-4: one check not in order":    {"/readyz/webhook-ready", 503, "failed: webhook-ready"},
		"PF-4: a check that is not there": {"/healthz/webhook-ready", 404, "404 page not found"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, c.path, nil))
			if body := strings.TrimSpace(recorder.Body.String()); recorder.Code != c.code || body != c.body {
				t.Errorf("%s answers %d %q, want %d %q", c.path, recorder.Code, body, c.code, c.body)
			}
		})
	}
}
