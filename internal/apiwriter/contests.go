// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// What another writer changes is put back at once the first time, then after so long, and after twice as long every time. A
// contest is over when nothing was put back for twice the longest pause.
const (
	firstContest = time.Second
	lastContest  = 5 * time.Minute
	overContest  = 2 * lastContest
)

// seed is that of the hashes of what is wanted: patches of many pods would be long.
var seed = maphash.MakeSeed()

// Contests remembers what was put back since another writer had changed it. Two that do not agree would write as fast as
// their watches tell them of each other. The zero value is ready for use, by several goroutines. (CT-12)
type Contests struct {
	lock  sync.Mutex
	known map[types.NamespacedName]*contests
}

// contests are those of an owner.
type contests struct {
	of    map[string]Contest // by object
	asked map[string]bool    // whether a write was held back by it, see Next
	swept time.Time          // when those that are over were dropped
}

// Contest is about one object.
type Contest struct {
	wanted uint64 // the hash of it
	pause  time.Duration
	// Until is before when the object is not written again, Over when the contest is over if it is not written until then.
	Until, Over time.Time
	// Times is how often the object was put back.
	Times int
	// By is the field manager that changed the object last; empty if that is not known.
	By string
}

// Contested is the error of a write that is not made since another writer takes it back each time. It is a conflict.
type Contested struct{ *apierrors.StatusError }

// NewContested returns the error of a write of something.
func NewContested(what string) error {
	return &Contested{apierrors.NewConflict(schema.GroupResource{}, what, errors.New("another writer takes back each write, the next one waits"))}
}

// OnlyContested tells whether an error is of writes alone that are not made since another writer takes them back. (CT-12)
func OnlyContested(err error) bool {
	switch e := err.(type) {
	case *Contested:
		return true
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !OnlyContested(err) })
	case interface{ Unwrap() error }:
		return OnlyContested(e.Unwrap())
	}
	return false
}

// Wrote takes note that an owner has written to an object what it wants there. It returns how often it was put back: 0 if
// something else was written last.
func (c *Contests) Wrote(owner types.NamespacedName, object, wanted string, now time.Time) (times int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.known[owner] == nil {
		if c.known == nil {
			c.known = map[types.NamespacedName]*contests{}
		}
		c.known[owner] = &contests{of: map[string]Contest{}, asked: map[string]bool{}, swept: now}
	}
	all := c.known[owner].of
	known, hash := all[object], maphash.String(seed, wanted)
	if known.wanted != hash || !now.Before(known.Over) {
		all[object] = Contest{wanted: hash, Over: now.Add(overContest)}
		return 0
	}
	known.pause = min(max(2*known.pause, firstContest), lastContest)
	known.Times++
	known.Until, known.Over = now.Add(known.pause), now.Add(overContest)
	all[object] = known
	return known.Times
}

// Waits tells whether an owner is to leave an object alone for now, to which it would write what it wants: it put the same
// back before, and the pause since then is not over. Next says when it is.
func (c *Contests) Waits(owner types.NamespacedName, object, wanted string, now time.Time) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	own := c.known[owner]
	if own == nil {
		return false
	}
	known, found := own.of[object]
	if !found || !now.Before(known.Until) || known.wanted != maphash.String(seed, wanted) {
		return false
	}
	own.asked[object] = true
	return true
}

// Next returns after what time the first of the writes of an owner that wait is to be tried again; 0 if none waits. Once a
// minute it drops the contests that are over.
func (c *Contests) Next(owner types.NamespacedName, now time.Time) (in time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	own := c.known[owner]
	if own == nil {
		return 0
	}
	for object := range own.asked {
		if left := max(own.of[object].Until.Sub(now), time.Millisecond); in == 0 || left < in {
			in = left
		}
	}
	clear(own.asked)
	if now.Sub(own.swept) >= time.Minute {
		own.swept = now
		maps.DeleteFunc(own.of, func(_ string, known Contest) bool { return !now.Before(known.Over) })
	}
	if len(own.of) == 0 {
		delete(c.known, owner)
	}
	return in
}

// ChangedBy takes note of who changed an object that was put back.
func (c *Contests) ChangedBy(owner types.NamespacedName, object, manager string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if own := c.known[owner]; own != nil {
		if known, found := own.of[object]; found {
			known.By = manager
			own.of[object] = known
		}
	}
}

// Of returns the contests of an owner by object.
func (c *Contests) Of(owner types.NamespacedName, now time.Time) map[string]Contest {
	c.lock.Lock()
	defer c.lock.Unlock()
	all := map[string]Contest{}
	if own := c.known[owner]; own != nil {
		for object, known := range own.of {
			if known.Times > 0 && now.Before(known.Over) {
				all[object] = known
			}
		}
	}
	return all
}

// Forget drops what is remembered of an owner that no longer exists.
func (c *Contests) Forget(owner types.NamespacedName) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.known, owner)
}

// LastManager is the field manager of an object that wrote last, as far as the object tells.
func LastManager(of metav1.Object) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range of.GetManagedFields() {
		if last.Manager == "" || entry.Time != nil && (last.Time == nil || last.Time.Before(entry.Time)) {
			last = entry
		}
	}
	return last.Manager
}
