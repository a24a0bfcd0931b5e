// SPDX-License-Identifier: Apache-2.0

package requests_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/testbed/requests"
)

// A request fails where none of its URLs answers it well, and only there.
func TestRequests(t *testing.T) {
	server := func(answer string) (url string, broken *atomic.Bool) {
		broken = &atomic.Bool{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if broken.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		return s.URL, broken
	}
	first, firstBroken := server("1")
	second, secondBroken := server("2")
	r := requests.New()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	go func() { defer close(ended); r.Send(ctx, first, second) }()
	await := func(what string, is func(answered map[string]int, failed []error) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if answered, failed := r.Outcome(); is(answered, failed) {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: answered %v, failed %v", what, answered, failed)
			}
		}
	}
	await("the first answers", func(answered map[string]int, failed []error) bool {
		return answered["1"] > 1 && answered["2"] == 0 && failed == nil
	})
	firstBroken.Store(true)
	await("the second answers", func(answered map[string]int, failed []error) bool { return answered["2"] > 1 && failed == nil })
	secondBroken.Store(true)
	want := second + ": 503 Service Unavailable\n" + first + ": 503 Service Unavailable"
	await("none answers", func(_ map[string]int, failed []error) bool { return len(failed) > 0 && failed[0].Error() == want })
}
