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

// Requests are those of any number of clients. New makes one.
type Requests struct {
	client   http.Client
	mu       sync.Mutex
	answered map[string]int
	failed   []error
}

// New returns one of no request yet. Each request has a connection of its own.
func New() *Requests {
	return &Requests{client: http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}, answered: map[string]int{}}
}

// Send sends one after the other, ten times a second at most, until the context is done: to the URL that answered last, and to
// the others where that does not answer 200. What has begun is not cut short.
func (r *Requests) Send(ctx context.Context, urls ...string) {
	r.SendTo(ctx, func() []string { return urls })
}

// SendTo is Send to URLs that may be others for each request. One for which there are none has failed.
func (r *Requests) SendTo(ctx context.Context, current func() []string) {
	for last := 0; ctx.Err() == nil; {
		urls := current()
		var errs []error
		if len(urls) == 0 {
			errs = []error{errors.New("there is nobody to ask")}
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
