// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/podwright/podwright/examples/testbed/requests"
)

// ask has clients send requests, where containers run, and returns what ends that and says what came of it.
func (d *demo) ask(ctx context.Context, act act) (end func() []check) {
	if act.asks == nil || d.Node != nodeReal {
		return func() []check { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	var sending sync.WaitGroup
	r := requests.New()
	clients := act.asks(d)
	for _, urls := range clients {
		sending.Go(func() { r.SendTo(ctx, urls) })
	}
	d.screen.print(line{text: fmt.Sprintf("          %d HTTP clients ask the pods, ten times a second each, until that is over", len(clients))})
	return func() []check {
		cancel()
		sending.Wait()
		return []check{unanswered(act.answers, r)}
	}
}

// unanswered: no request has failed, and some were answered in each way.
func unanswered(answers []string, r interface {
	Outcome() (map[string]int, []error)
}) check {
	answered, failed := r.Outcome()
	ok, total, text := len(failed) == 0, len(failed), ""
	for _, answer := range answers {
		ok, total = ok && answered[answer] > 0, total+answered[answer]
		text += fmt.Sprintf("; version %s answered %d", answer, answered[answer])
	}
	if len(failed) > 0 {
		text += fmt.Sprintf("; the first: %v", failed[0])
	}
	return check{ok, fmt.Sprintf("%d of %d HTTP requests failed", len(failed), total) + text}
}
