// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
)

// mostTracked limits what is remembered of one object. What is there already stays, so that what does not move is remembered at last.
const mostTracked = 100

// Tracker remembers since when objects are held up. After a restart it begins anew, but for pods, which say it themselves, and for
// what conditions say. The zero value is ready for use, by several goroutines.
type Tracker struct {
	lock  sync.Mutex
	known map[types.NamespacedName]Since
}

// Since returns when the holds of the last plan for an object began. It must not be changed.
func (t *Tracker) Since(of types.NamespacedName) Since {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.known[of]
}

// Note takes note of the holds of a plan, and returns after what time the next of them is to be told. It returns 0 if there is none.
func (t *Tracker) Note(of types.NamespacedName, holds []rollout.Wait, now time.Time) (again time.Duration) {
	t.lock.Lock()
	defer t.lock.Unlock()
	before := t.known[of]
	if len(holds) == 0 {
		delete(t.known, of)
		return 0
	}
	since, behind := make(Since, min(len(holds), mostTracked)), allBehind(holds)
	for _, old := range []bool{true, false} {
		for i := range holds {
			h := &holds[i]
			if _, is := before[h.Subject]; is != old || len(since) >= mostTracked || IsBehind(*h) && !behind {
				continue
			}
			at := began(h, before, now)
			since[h.Subject] = at
			if in := at.Add(After).Sub(now); in > 0 && (again == 0 || in < again) {
				again = in
			}
		}
	}
	if t.known == nil {
		t.known = map[types.NamespacedName]Since{}
	}
	t.known[of] = since
	return again
}

// Forget drops what is remembered of an object that no longer exists.
func (t *Tracker) Forget(of types.NamespacedName) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.known, of)
}
