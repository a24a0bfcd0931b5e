// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// A request fails if none of its URLs answers it well, and only then.
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
	r := Start(t.Context(), func() []string { return []string{first, second} })
	defer r.End()
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

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		answered map[string]int
		failed   []error
		ok       bool
		want     string
	}{
		{map[string]int{"1": 3, "2": 4}, nil, true, "0 of 7 HTTP requests failed; version 1 answered 3; version 2 answered 4"},
		{map[string]int{"1": 3}, nil, false, "0 of 3 HTTP requests failed; version 1 answered 3; version 2 answered 0"},
		{map[string]int{"1": 3, "2": 4}, []error{errors.New("refused"), nil}, false, "2 of 9 HTTP requests failed; version 1 answered 3; version 2 answered 4; the first: refused"},
	} {
		if ok, got := summary(c.answered, c.failed, []string{"1", "2"}); ok != c.ok || got != c.want {
			t.Errorf("got %t, %s; want %t, %s", ok, got, c.ok, c.want)
		}
	}
}
