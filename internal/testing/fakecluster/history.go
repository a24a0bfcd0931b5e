// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// history is the past of one resource. A position in it counts the events from
// the beginning, forgotten ones too.
type history struct {
	events    []event
	forgotten int   // events before events[0]
	compacted int64 // the resourceVersion up to which events are forgotten
	limit     int   // watches get no event from this position on
	lag       time.Duration
	watches   []*stream
}

// event is a change of an object, or a bookmark if it has no object.
type event struct {
	version       int64
	before, after *unstructured.Unstructured // nil: the object did not exist
	last          *unstructured.Unstructured // as watches show it
	shown         time.Time                  // not before, see Lag
}

const unlimited = -1

func (h *history) end() int { return h.forgotten + len(h.events) }

// since is the position of the first event after a resourceVersion.
func (h *history) since(version int64) int {
	return h.forgotten + sort.Search(len(h.events), func(i int) bool { return h.events[i].version > version })
}

// held tells whether the event at a position is kept from watches.
func (h *history) held(position int) bool {
	return h.limit != unlimited && position >= h.limit || time.Now().Before(h.events[position-h.forgotten].shown)
}

// of finds a resource by name; tests name it as they do in Request. If several groups have the
// name, "statefulsets.apps" says which.
func (s *Server) of(resource string) *history {
	var named []*storage
	for _, r := range s.resources {
		if r.groupResource().String() == resource {
			return &r.history
		}
		if r.Name == resource {
			named = append(named, r)
		}
	}
	if len(named) != 1 {
		panic(fmt.Sprintf("fakecluster: %d resources have the name %q, want one; name its group too, as in statefulsets.apps", len(named), resource))
	}
	return &named[0].history
}

// disturb changes what watches of a resource get.
func (s *Server) disturb(resource string, change func(*history)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	change(s.of(resource))
	s.changed.Broadcast()
}

// Hold keeps everything that happens to a resource from now on from its
// watches, so that caches become stale. Lists are always up to date.
func (s *Server) Hold(resource string) {
	s.disturb(resource, func(h *history) { h.limit = h.end() })
}

// Release ends what Hold began: the watches get all that they have missed.
func (s *Server) Release(resource string) {
	s.disturb(resource, func(h *history) { h.limit = unlimited })
}

// Lag has the watches of a resource show what happens from now on so much later, 0 for at once. Lists are always up to
// date. The time is the real one, or that of a synctest bubble, whatever the clock of the server.
func (s *Server) Lag(resource string, lag time.Duration) {
	s.disturb(resource, func(h *history) { h.lag = lag })
}

// late has the newest event shown when it is due. The lock is held.
func (s *Server) late(h *history) {
	if h.lag == 0 {
		return
	}
	h.events[len(h.events)-1].shown = time.Now().Add(h.lag)
	time.AfterFunc(h.lag, func() {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.changed.Broadcast()
	})
}

// ReleaseNext gives the watches of a held resource the next n events.
func (s *Server) ReleaseNext(resource string, n int) {
	s.disturb(resource, func(h *history) {
		if h.limit != unlimited {
			h.limit = min(h.limit+n, h.end())
		}
	})
}

// Drop ends the watches of a resource. Informers watch again from where they
// were and miss nothing, unless Compact has been called.
func (s *Server) Drop(resource string) {
	s.disturb(resource, func(h *history) {
		for _, w := range h.watches {
			w.ended = true
		}
		h.watches = nil
	})
}

// Compact forgets the past of a resource. A watch that begins, or stands, in
// the past is told that it is too old. Informers list again then, and never
// see what has been created and deleted in between.
func (s *Server) Compact(resource string) {
	s.disturb(resource, func(h *history) { h.forgotten, h.events, h.compacted = h.end(), nil, s.version })
}

// Bookmark tells the watches of a resource that ask for bookmarks what the
// newest resourceVersion is, as a real server does about once a minute.
func (s *Server) Bookmark(resource string) {
	s.disturb(resource, func(h *history) { h.events = append(h.events, event{version: s.version}) })
}
