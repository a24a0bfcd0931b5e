// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What another writer changes is put back at once the first time, then after so long, and after twice as long every time. A
// contest is over when nothing was put back for twice the longest pause.
const (
	firstContest = time.Second
	lastContest  = 5 * time.Minute
	overContest  = 2 * lastContest
)

// Contests remembers what was put back since another writer had changed it. Two that do not agree would write as fast as
// their watches tell them of each other. The zero value is ready for use, by several goroutines. (CT-12)
type Contests struct {
	lock  sync.Mutex
	known map[types.NamespacedName]map[string]Contest
}

// Contest is about one object.
type Contest struct {
	wanted string
	pause  time.Duration
	// Until is before when the object is not written again, Over when the contest is over if it is not written until then.
	Until, Over time.Time
	// Times is how often the object was put back.
	Times int
	// By is the field manager that changed the object last; empty if that is not known.
	By string
}

// Wrote takes note that an owner has written to an object what it wants there. It tells whether it had written the same
// before, which another writer has changed since.
func (c *Contests) Wrote(owner types.NamespacedName, object, wanted string, now time.Time) (contested bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.known[owner] == nil {
		if c.known == nil {
			c.known = map[types.NamespacedName]map[string]Contest{}
		}
		c.known[owner] = map[string]Contest{}
	}
	known := c.known[owner][object]
	if known.wanted != wanted || !now.Before(known.Over) {
		c.known[owner][object] = Contest{wanted: wanted, Over: now.Add(overContest)}
		return false
	}
	known.pause = min(max(2*known.pause, firstContest), lastContest)
	known.Times++
	known.Until, known.Over = now.Add(known.pause), now.Add(overContest)
	c.known[owner][object] = known
	return true
}

// ChangedBy takes note of who changed an object that was put back.
func (c *Contests) ChangedBy(owner types.NamespacedName, object, manager string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if known, found := c.known[owner][object]; found {
		known.By = manager
		c.known[owner][object] = known
	}
}

// Of returns the contests of an owner by object, and drops those that are over.
func (c *Contests) Of(owner types.NamespacedName, now time.Time) map[string]Contest {
	c.lock.Lock()
	defer c.lock.Unlock()
	all := map[string]Contest{}
	for object, known := range c.known[owner] {
		switch {
		case !now.Before(known.Over):
			delete(c.known[owner], object)
		case known.Times > 0:
			all[object] = known
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
