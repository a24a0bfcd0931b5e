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

// pause is how long a client waits after an answer.
const pause = 100 * time.Millisecond

// httpClient asks a server for a page again and again. Both versions of the server are reached by the same host, and each has a
// port of its own: it asks the one that has answered last, and the other where that one does not.
type httpClient struct {
	http     http.Client
	mu       sync.Mutex
	answered map[string]int // requests by the page that they got
	failed   []error        // those of requests that neither port has answered
}

func newHTTPClient() *httpClient {
	return &httpClient{http: http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}, answered: map[string]int{}}
}

// run asks a server until the context is done.
func (c *httpClient) run(ctx context.Context, urls ...string) {
	for last := 0; ctx.Err() == nil; {
		var failed []error
		for i := range urls {
			n := (last + i) % len(urls)
			page, err := c.get(urls[n])
			if err == nil {
				c.count(page, nil)
				last, failed = n, nil
				break
			}
			failed = append(failed, err)
		}
		if failed != nil {
			c.count("", errors.Join(failed...))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// get gets a page. A request that has begun is not cut short.
func (c *httpClient) get(url string) (string, error) {
	answer, err := c.http.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, answer.Status)
	}
	return string(page), err
}

func (c *httpClient) count(page string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed = append(c.failed, err)
		return
	}
	c.answered[page]++
}

// check says how many requests have failed. Each page should have been served.
func (c *httpClient) check(pages ...string) check {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, text, ok := len(c.failed), "", len(c.failed) == 0
	for _, page := range pages {
		all, ok = all+c.answered[page], ok && c.answered[page] > 0
		text += fmt.Sprintf(", %d answered at port %s", c.answered[page], page)
	}
	text = fmt.Sprintf("%d of %d HTTP requests failed%s", len(c.failed), all, text)
	if len(c.failed) > 0 {
		text += fmt.Sprintf("; the first: %v", c.failed[0])
	}
	return check{ok, text}
}

// ask has clients ask the sidecars of all pods where containers run, and returns what ends that and says what came of it.
func (d *demo) ask(ctx context.Context, act act) (end func() []check) {
	if !act.serves || d.Node != nodeReal {
		return func() []check { return nil }
	}
	d.screen.print(line{text: "          HTTP clients ask the mesh of every pod from now on. Both mesh containers share the pod's network, so each"},
		line{text: "          version has a port: a client asks the one that answered last, and then the other. Neither answers: failed"})
	ctx, cancel := context.WithCancel(ctx)
	c := newHTTPClient()
	var asking sync.WaitGroup
	for _, pod := range d.observer.pods.All() {
		asking.Go(func() { c.run(ctx, "http://"+pod.Status.PodIP+":8081/", "http://"+pod.Status.PodIP+":8082/") })
	}
	return func() []check {
		cancel()
		asking.Wait()
		return []check{c.check("8081", "8082")}
	}
}
