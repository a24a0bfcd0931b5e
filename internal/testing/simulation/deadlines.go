// SPDX-License-Identifier: Apache-2.0

package simulation

import "net/http"

// inTime has a process wait for an answer only as long as the context of its request lasts, as clients do. The server may come to the request
// later all the same.
func inTime(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if _, ends := r.Context().Deadline(); !ends {
			return next.RoundTrip(r)
		}
		type result struct {
			answer *http.Response
			err    error
		}
		answered := make(chan result, 1)
		go func() {
			answer, err := next.RoundTrip(r)
			answered <- result{answer, err}
		}()
		select {
		case got := <-answered:
			return got.answer, got.err
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
}
