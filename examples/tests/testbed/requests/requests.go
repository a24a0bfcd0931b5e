// SPDX-License-Identifier: Apache-2.0

// Package requests sends HTTP requests without a break, and counts those that fail, for tests and demos.
package requests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// pause is how long a client waits after an answer.
	pause = 100 * time.Millisecond
	// patience is how long one waits for an answer.
	patience = 5 * time.Second
)

// Requests are those of any number of clients. Start makes one.
type Requests struct {
	client  http.Client
	cancel  context.CancelFunc
	sending sync.WaitGroup

	mu       sync.Mutex
	answered map[string]int
	failed   []error
}

// Start has clients send requests, each one after the other, ten times a second at most, until the context is done or End
// is called. They go to the URLs that a client names then, to that which answered last, and to the others if that does
// not answer 200. A request for which there are none has failed. Each has a connection of its own.
func Start(ctx context.Context, clients ...func() []string) *Requests {
	r := &Requests{client: http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}, answered: map[string]int{}}
	ctx, r.cancel = context.WithCancel(ctx)
	for _, urls := range clients {
		r.sending.Go(func() { r.send(ctx, urls) })
	}
	return r
}

// End ends the clients, and says what has come of their requests: that none has failed, and that each answer that is
// named was given. What has begun is not cut short.
func (r *Requests) End(answers ...string) (ok bool, text string) {
	r.cancel()
	r.sending.Wait()
	answered, failed := r.Outcome()
	return summary(answered, failed, answers)
}

func summary(answered map[string]int, failed []error, answers []string) (ok bool, text string) {
	total := len(failed)
	ok = total == 0
	for _, answer := range answers {
		ok, total = ok && answered[answer] > 0, total+answered[answer]
		text += fmt.Sprintf("; version %s answered %d", answer, answered[answer])
	}
	if len(failed) > 0 {
		text += fmt.Sprintf("; the first: %v", failed[0])
	}
	return ok, fmt.Sprintf("%d of %d HTTP requests failed", len(failed), total) + text
}

func (r *Requests) send(ctx context.Context, current func() []string) {
	for last := 0; ctx.Err() == nil; {
		urls := current()
		var errs []error
		if len(urls) == 0 {
			errs = []error{errors.New("there is no server to ask")}
		}
		for i := range urls {
			n := (last + i) % len(urls)
			answer, err := r.get(urls[n])
			if err == nil {
				r.note(answer, nil)
				last, errs = n, nil
				break
			}
			errs = append(errs, err)
		}
		if len(errs) > 0 {
			r.note("", errors.Join(errs...))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (r *Requests) get(url string) (string, error) {
	response, err := r.client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	return string(answer), err
}

func (r *Requests) note(answer string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = append(r.failed, err)
	} else {
		r.answered[answer]++
	}
}

// Outcome returns how many requests were answered, by the answer, and the errors of those that none of their URLs has answered.
func (r *Requests) Outcome() (answered map[string]int, failed []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.answered), slices.Clone(r.failed)
}
