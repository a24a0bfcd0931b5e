// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// refusalText stands in the text of every refusal.
const refusalText = "refused by the judge"

// everyRefusal is for "make test-long". Without it all writes at once are refused in every way, and each write by itself in two:
// for good and for a while. The next write is refused in the next two ways.
var everyRefusal = flag.Bool("every-refusal", false, "refuse each write in every way, and not only in every sixth; have it fail in every way, and not only in one")

// refusal is how a write is refused, and how far behind watches are.
type refusal struct {
	name string
	// refuse returns the answer to the n-th refused request.
	refuse func(n int64) error
	// varies says that no two texts are the same.
	varies bool
	// made says that the write is made, and only its answer is lost.
	made bool
	lag  time.Duration
}

// allRefusals pair what is answered with texts that vary or not, and with watches that are behind or not.
func allRefusals() (all []refusal) {
	const late = 500 * time.Millisecond
	text := func(n int64) string { return fmt.Sprintf("%s, request %d", refusalText, n) }
	for _, answer := range []struct {
		name   string
		refuse func(n int64) error
	}{
		{"403", func(n int64) error { return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(text(n))) }},
		{"422", func(n int64) error {
			return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Forbidden(field.NewPath("spec"), text(n))})
		}},
		{"429", func(n int64) error { return apierrors.NewTooManyRequests(text(n), 0) }},
		{"503", func(n int64) error { return apierrors.NewServiceUnavailable(text(n)) }},
		{"no answer", func(n int64) error { return errors.New("connection reset by peer, " + text(n)) }},
	} {
		// Pairs are enough: each answer with each text, and with each lag.
		lag := time.Duration(len(all)/2%2) * late
		all = append(all, refusal{name: answer.name, refuse: answer.refuse, lag: lag},
			refusal{name: answer.name, refuse: answer.refuse, varies: true, lag: late - lag})
	}
	lost := all[len(all)-1].refuse
	return append(all, refusal{name: "made, and no answer", refuse: lost, made: true},
		refusal{name: "made, and no answer", refuse: lost, made: true, varies: true, lag: late})
}

func (r *refusal) String() string {
	return fmt.Sprintf("%s, text varies: %v, lag %s", r.name, r.varies, r.lag)
}

// of returns what refuses the requests that match, before they are served or after that, and counts them.
func (r *refusal) of(matches func(*fakecluster.Request) bool) (before, after func(fakecluster.Request) error, refused *atomic.Int64) {
	refused = &atomic.Int64{}
	fail := func(req fakecluster.Request) error {
		if !matches(&req) {
			return nil
		}
		if n := refused.Add(1); r.varies {
			return r.refuse(n)
		}
		return r.refuse(0)
	}
	if r.made {
		return nil, fail, refused
	}
	return fail, nil, refused
}

// refusedForAnHour: what is refused for ever is tried less and less often, whatever the answer and however late the caches
// are. An event or the object says what is refused. It is done once the API server accepts it. (CT-3, CT-11)
func refusedForAnHour(t *testing.T, k *Subject, want calm) {
	n, turns := -1, max(k.Turns, 1)
	for i, write := range append([]string{"any"}, k.Writes...) {
		for j, r := range allRefusals() {
			if i > 0 && (i+j)%6 != 0 && !*everyRefusal {
				continue
			}
			if n++; (n+n/turns)%turns != k.Turn && !*everyRefusal { // a plain n%turns would give one kind of text to each
				continue
			}
			t.Run(fmt.Sprint(write, ": ", &r), func(t *testing.T) {
				k.play(t, func(c *Cluster) { c.refuseForAnHour(write, &r, want) })
			})
		}
	}
}

func (c *Cluster) refuseForAnHour(write string, r *refusal, want calm) {
	c.T.Helper()
	before, after, refused := r.of(func(req *fakecluster.Request) bool {
		return req.User == fixture.ControllerUser && !reads(req) && (write == "any" || req.String() == write)
	})
	c.fail(before, after)
	for _, resource := range c.kind.Watches {
		c.Lag(resource, r.lag)
	}
	defer c.start()()
	c.kind.Create(c, name)
	c.steps(10)
	c.change(name)
	c.steps(10)
	c.minutes(40)
	asked, remembers := c.perObject(), remembered(c.memory)
	c.minutes(20)
	c.expectFew(asked, int(refused.Load()))
	c.expectNoMore("after 20 more minutes of refusals", remembers)
	var status apierrors.APIStatus
	if errors.As(r.refuse(0), &status) && refused.Load() > 0 {
		c.expectSaid()
	}
	c.fail(nil, nil)
	c.Sleep("10m")
	c.settle()
	c.expect(name, want)
	if !r.made {
		c.expectOnce(want)
	}
}

// minutes lets the others act once a minute, and watches get their bookmarks as often.
func (c *Cluster) minutes(n int) {
	c.T.Helper()
	for range n {
		c.step()
		for _, resource := range c.kind.Watches {
			c.Bookmark(resource)
		}
		c.Sleep("58s")
	}
}

// perObject counts the requests of the controller by what they do to which object.
func (c *Cluster) perObject() map[string]int {
	n := map[string]int{}
	for _, r := range c.Requests(fixture.ControllerUser) {
		if r.Verb != "watch" {
			n[r.String()+" "+strings.TrimPrefix(r.Namespace+"/"+r.Name, "/")]++
		}
	}
	return n
}

// The bounds of CT-11 on the requests of one kind about one object.
const (
	mostAnHour  = 80
	mostAtLast  = 16 // in the last 20 minutes of it
	mostBesides = 20 // events of what was not refused
)

// expectFew checks how many requests and events there were in the hour. Those of the first 40 minutes are given.
func (c *Cluster) expectFew(before map[string]int, refused int) {
	c.T.Helper()
	n := c.perObject()
	for _, request := range slices.Sorted(maps.Keys(n)) {
		if n[request] > mostAnHour+c.kind.MoreTries || n[request]-before[request] > mostAtLast+c.kind.MoreTries/3 {
			c.T.Errorf("%s: %d requests in an hour, %d of them in its last 20 minutes, want at most %d and %d",
				request, n[request], n[request]-before[request], mostAnHour+c.kind.MoreTries, mostAtLast+c.kind.MoreTries/3)
		}
	}
	if events := c.Events.All(); len(events) > refused+mostBesides {
		c.T.Errorf("%d events in an hour about %d requests that were refused; the last one: %s", len(events), refused, events[len(events)-1])
	}
}

// expectSaid checks that the object, or an event, says what is refused.
func (c *Cluster) expectSaid() {
	c.T.Helper()
	for _, event := range c.Events.All() {
		if strings.Contains(event, refusalText) {
			return
		}
	}
	if raw := c.about(); !strings.Contains(raw, refusalText) {
		c.T.Errorf("UNSAID neither an event nor the object says what is refused: %s", raw)
	}
}

// about is what the object says about itself.
func (c *Cluster) about() string {
	if c.kind.About != nil {
		return c.kind.About(c, name)
	}
	return fmt.Sprint(c.Raw()["status"])
}
