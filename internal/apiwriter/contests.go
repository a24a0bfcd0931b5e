// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
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
	asked map[string]bool    // whether a write was held back by it, see next
	swept time.Time          // when those that are over were dropped
}

// mostWrites is how many distinct writes about an object are remembered. They are those of a cycle that another writer takes
// back, as a pod that leaves service and its update.
const mostWrites = 8

// Contest is about one object.
type Contest struct {
	writes [mostWrites]uint64 // hashes of the last distinct ones, the newest first; 0 is none
	last   fields             // what was written last to each field
	pause  time.Duration
	sent   uint64 // hash of what a note was made that is renewed by itself, see Write
	// Until is before when the object is not written again, Over when the contest is over if it is not written until then.
	Until, Over time.Time
	// Times is how often the object was put back.
	Times int
	// By is the field manager that changed the object last; empty if that is not known.
	By string
}

// contested is the error of a write that is not made since another writer takes it back each time. It is a conflict.
type contested struct{ *apierrors.StatusError }

// newContested returns the error of a write of something.
func newContested(what string) error {
	return &contested{apierrors.NewConflict(schema.GroupResource{}, what, errors.New("another writer takes back each write, the next one waits"))}
}

// OnlyContested tells whether an error is of writes alone that are not made since another writer takes them back. (CT-12)
func OnlyContested(err error) bool {
	switch e := err.(type) {
	case *contested:
		return true
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !OnlyContested(err) })
	case interface{ Unwrap() error }:
		return OnlyContested(e.Unwrap())
	}
	return false
}

// Write is one that another writer may take back.
type Write struct {
	// Owner is on whose behalf it is made. Object names what is written, and its part.
	Owner  types.NamespacedName
	Object string
	// Wanted is what is written there: JSON texts, as patches, one behind the other. Two writes are the same if that is.
	Wanted string
	// Found is what stands there, and Sent what this write makes of it. They are set if it is a note that is renewed by
	// itself, as one with a time is. While that is found which was sent last, nothing was taken back. Both are empty for
	// what is not renewed.
	Found, Sent string
	// Send sends it. ErrNotSent says that it was not sent after all, and is none of PutBack.
	Send func() error
	// Tell records a Warning event of that reason. Nil records none.
	Tell func(reason, message string)
}

// contestedEvent is the reason of the Warning about what another writer changes whenever it is written. (CT-12)
const contestedEvent = "Contested"

// mostQuiet is how often something is put back before an event says so.
const mostQuiet = 3

// Warn returns a function that records Warning events about an object, as Write.Tell does: none without a recorder.
func Warn(recorder record.EventRecorder, of runtime.Object) func(reason, message string) {
	return func(reason, message string) {
		if recorder != nil {
			recorder.Event(of, corev1.EventTypeWarning, reason, message)
		}
	}
}

// ErrNotSent says that a write was not made, and need not be.
var ErrNotSent = errors.New("not sent")

// PutBack sends a write, unless another writer takes it back each time. Then it returns a contested error, which is a conflict,
// until the pause is over. next says when that is. A write that fails does not count. (CT-12)
func (c *Contests) PutBack(w Write, now func() time.Time) error {
	renewed := c.stands(&w)
	if !renewed && c.waits(w.Owner, w.Object, w.Wanted, now()) {
		return newContested(w.Object)
	}
	if err := w.Send(); err != nil {
		if errors.Is(err, ErrNotSent) {
			return nil
		}
		return err
	}
	times := 0
	if !renewed {
		times = c.Wrote(w.Owner, w.Object, w.Wanted, now())
	}
	c.note(&w)
	if times >= mostQuiet && w.Tell != nil {
		w.Tell(contestedEvent, fmt.Sprintf("Another writer takes back each write of %s, which is made again less and less often, every 5 minutes in the end", w.Object))
	}
	return nil
}

// Wrote takes note that an owner has written to an object what it wants there. It returns how often something was put back there:
// 0 if this was not.
func (c *Contests) Wrote(owner types.NamespacedName, object, wanted string, now time.Time) (times int) {
	hash, fields := maphash.String(seed, wanted), fieldsOf(wanted)
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.known[owner] == nil {
		if c.known == nil {
			c.known = map[types.NamespacedName]*contests{}
		}
		c.known[owner] = &contests{of: map[string]Contest{}, asked: map[string]bool{}, swept: now}
	}
	all := c.known[owner].of
	known := all[object]
	if !now.Before(known.Over) {
		known = Contest{}
	}
	switch {
	case known.undone(hash, fields):
		known.pause = min(max(2*known.pause, firstContest), lastContest)
		known.Times++
		known.Until, known.Over = now.Add(known.pause), now.Add(overContest)
		times = known.Times
	case !slices.Contains(known.writes[:], hash): // something else is wanted
		known.pause, known.Times = 0, 0
		known.Until, known.Over = time.Time{}, now.Add(overContest)
	}
	known.wrote(hash, fields)
	all[object] = known
	return times
}

// stands tells whether what stands is what was sent last.
func (c *Contests) stands(w *Write) bool {
	if w.Found == "" {
		return false
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	own := c.known[w.Owner]
	return own != nil && own.of[w.Object].sent == maphash.String(seed, w.Found)
}

// note takes note of what was sent.
func (c *Contests) note(w *Write) {
	if w.Sent == "" {
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if own := c.known[w.Owner]; own != nil {
		known := own.of[w.Object]
		known.sent = maphash.String(seed, w.Sent)
		own.of[w.Object] = known
	}
}

// undone tells whether a write was made before, and is made again since something of it does not stand. The owner has
// written nothing else there since.
func (t *Contest) undone(hash uint64, fields fields) bool {
	return slices.Contains(t.writes[:], hash) && t.last.shares(fields)
}

// wrote takes note of a write.
func (t *Contest) wrote(hash uint64, fields fields) {
	before := t.writes
	for i, n := 0, 1; i < mostWrites && n < mostWrites; i++ {
		if before[i] != hash {
			t.writes[n] = before[i]
			n++
		}
	}
	t.writes[0] = hash
	t.last = t.last.with(fields)
}

// waits tells whether an owner is to leave an object alone for now, to which it would write what it wants. It is if the
// owner put the same back before, and the pause since then is not over. next says when it is.
func (c *Contests) waits(owner types.NamespacedName, object, wanted string, now time.Time) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	own := c.known[owner]
	if own == nil {
		return false
	}
	known, found := own.of[object]
	if !found || !now.Before(known.Until) || !known.undone(maphash.String(seed, wanted), fieldsOf(wanted)) {
		return false
	}
	own.asked[object] = true
	return true
}

// next returns after what time the first of the writes of an owner that wait is to be tried again; 0 if none waits. Once a
// minute it drops the contests that are over.
func (c *Contests) next(owner types.NamespacedName, now time.Time) (in time.Duration) {
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

// After is after what time a reconcile that ended so is to be repeated, and its error: writes that wait are none. (CT-12)
func (c *Contests) After(owner types.NamespacedName, now time.Time, requeueAfter time.Duration, err error) (time.Duration, error) {
	contested := c.next(owner, now)
	if !OnlyContested(err) {
		return requeueAfter, err
	}
	if requeueAfter > 0 {
		contested = min(contested, requeueAfter)
	}
	return contested, nil
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

// Deleted drops what is remembered of an object that its owner has deleted: it may want it again.
func (c *Contests) Deleted(owner types.NamespacedName, object string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if own := c.known[owner]; own != nil {
		delete(own.of, object)
	}
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
