// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A request fails where nobody answers it well, and only there.
func TestRequests(t *testing.T) {
	server := func(answer string) (url string, stop *atomic.Bool) {
		stop = &atomic.Bool{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if stop.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		return s.URL, stop
	}
	first, firstStops := server("1")
	second, secondStops := server("2")
	r := &requests{answered: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() { defer close(ended); r.send(ctx, first, second) }()
	await := func(what string, ok bool, text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			c := r.check("1", "2")
			if c.ok == ok && strings.Contains(c.text, text) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, c)
			}
		}
	}
	await("one version serves, and the other has not", false, "0 of 2 HTTP requests failed, mesh:1 answered 2, mesh:2 answered 0")
	firstStops.Store(true)
	await("the other serves", true, "mesh:2 answered 1")
	secondStops.Store(true)
	await("none serves", false, "; the first: "+second+": 503 Service Unavailable\n"+first+": 503 Service Unavailable")
	cancel()
	<-ended
}
