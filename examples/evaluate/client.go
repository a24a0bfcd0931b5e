// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/podwright/podwright/examples/testbed/requests"
)

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
	var sending sync.WaitGroup
	r := requests.New()
	for _, pod := range d.observer.pods.All() {
		sending.Go(func() { r.Send(ctx, "http://"+pod.Status.PodIP+":8081", "http://"+pod.Status.PodIP+":8082") })
	}
	return func() []check {
		cancel()
		sending.Wait()
		return []check{unanswered(r.Outcome())}
	}
}

// unanswered: no request has failed, and each version has answered some.
func unanswered(answered map[string]int, failed []error) check {
	one, two := answered["1"], answered["2"]
	text := fmt.Sprintf("%d of %d HTTP requests failed; mesh:1 answered %d, mesh:2 answered %d", len(failed), one+two+len(failed), one, two)
	if len(failed) > 0 {
		text += fmt.Sprintf("; the first: %v", failed[0])
	}
	return check{len(failed) == 0 && one > 0 && two > 0, text}
}
