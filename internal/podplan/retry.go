// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"time"
)

// retries are the updates of a workload whose images came back. The zero value is none. (IP-40)
type retries struct {
	pods  int
	tries int32
	last  time.Time // when the last of them began
	first *View     // by name
}

func (r *retries) add(pod *View) {
	r.pods++
	r.tries += pod.retry.Tries
	if pod.retry.Last.After(r.last) {
		r.last = pod.retry.Last
	}
	if r.first == nil || pod.Name < r.first.Name {
		r.first = pod
	}
}

// until is when the next update may be tried, a second to 5 minutes after the last; zero for now. A try in the future is that of another clock.
func (r *retries) until(now time.Time) time.Time {
	if r.pods == 0 || r.last.After(now) {
		return time.Time{}
	}
	return r.last.Add(delayOf(r.tries))
}

// err says what came back, of the first pod; nil if nothing did.
func (r *retries) err() error {
	switch r.pods {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("pod %s: %s", r.first.Name, r.first.retry.Why)
	}
	return fmt.Errorf("pod %s and %d more: %s", r.first.Name, r.pods-1, r.first.retry.Why)
}
