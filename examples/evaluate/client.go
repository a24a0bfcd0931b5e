// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// requests are those of HTTP clients, and what came of them.
type requests struct {
	client   http.Client
	mu       sync.Mutex
	answered map[string]int // by the answer
	failed   []error        // of those that no port has answered
}

// send sends one every tenth of a second until the context is done: to the URL that answered last, and then to the others. What has
// begun is not cut short.
func (r *requests) send(ctx context.Context, urls ...string) {
	for last := 0; ctx.Err() == nil; {
		var errs []error
		for i := range urls {
			n := (last + i) % len(urls)
			err := r.get(urls[n])
			if err == nil {
				last, errs = n, nil
				break
			}
			errs = append(errs, err)
		}
		if len(errs) > 0 {
			r.mu.Lock()
			r.failed = append(r.failed, errors.Join(errs...))
			r.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (r *requests) get(url string) error {
	response, err := r.client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.answered[string(answer)]++
	}
	return err
}

// check says how many have failed. There should be some with each of these answers.
func (r *requests) check(answers ...string) check {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, all := check{ok: len(r.failed) == 0}, len(r.failed)
	for _, answer := range answers {
		n := r.answered[answer]
		all, c.ok, c.text = all+n, c.ok && n > 0, c.text+fmt.Sprintf(", mesh:%s answered %d", answer, n)
	}
	c.text = fmt.Sprintf("%d of %d HTTP requests failed%s", len(r.failed), all, c.text)
	if len(r.failed) > 0 {
		c.text += fmt.Sprintf("; the first: %v", r.failed[0])
	}
	return c
}

// ask has a client of every pod ask its sidecars, where containers run, and returns what ends that and says what came of it.
func (d *demo) ask(ctx context.Context, act act) (end func() []check) {
	if !act.serves || d.Node != nodeReal {
		return func() []check { return nil }
	}
	for _, text := range []string{
		"HTTP clients ask the mesh of each pod, ten times a second, until both upgrades are over. mesh-1 and mesh-2",
		"share the network of their pod, so each version has a port: 8081 that of mesh:1, and 8082 that of mesh:2.",
		"A client asks the one that answered last, and the other where that does not. Where neither does it has failed.",
	} {
		d.screen.print(line{text: "          " + text})
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &requests{client: http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, answered: map[string]int{}}
	var sending sync.WaitGroup
	for _, pod := range d.observer.pods.All() {
		sending.Go(func() { r.send(ctx, "http://"+pod.Status.PodIP+":8081", "http://"+pod.Status.PodIP+":8082") })
	}
	return func() []check {
		cancel()
		sending.Wait()
		return []check{r.check("1", "2")}
	}
}
