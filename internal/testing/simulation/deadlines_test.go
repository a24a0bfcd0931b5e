// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A client waits for an answer as long as its context lasts; without a deadline, until it comes.
func TestRequestsEndInTime(t *testing.T) {
	for _, test := range []struct {
		name        string
		limit, want time.Duration
		err         error
	}{
		{"without a deadline", 0, time.Minute, nil},
		{"the answer comes in time", 2 * time.Minute, time.Minute, nil},
		{"the answer comes too late", 5 * time.Second, 5 * time.Second, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			served := false
			client := inTime(roundTripper(func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Minute)
				served = true
				return &http.Response{}, nil
			}))
			ctx, start := t.Context(), time.Now()
			if test.limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.limit)
				defer cancel()
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://fakecluster", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.RoundTrip(request); !errors.Is(err, test.err) || time.Since(start) != test.want {
				t.Errorf("%s: error %v after %v, want %v after %v", test.name, err, time.Since(start), test.err, test.want)
			}
			time.Sleep(2 * time.Minute)
			if synctest.Wait(); !served {
				t.Errorf("%s: the server has not come to the request", test.name)
			}
		})
	}
}
