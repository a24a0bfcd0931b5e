// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// latestKept is how long the state of a budget is remembered at least. A cache is seldom behind for as
// long; if it is, booking on what it has ends with a conflict, and the budget is read.
const latestKept = time.Minute

// latest remembers the states of budgets that are newer than those of a cache, and for how long. A budget that
// was deleted is never asked about again. The zero value is ready for use, by several goroutines.
type latest struct {
	lock  sync.Mutex
	byKey map[types.NamespacedName]state
	swept time.Time
}

// state is a budget as it was at a time.
type state struct {
	budget *v1alpha1.PodUnavailableBudget
	at     time.Time
}

// set remembers a budget, and drops those that were remembered for long enough.
func (l *latest) set(key types.NamespacedName, budget *v1alpha1.PodUnavailableBudget, now time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.byKey == nil {
		l.byKey = map[types.NamespacedName]state{}
	}
	l.byKey[key] = state{budget, now}
	if now.Sub(l.swept) < latestKept {
		return
	}
	l.swept = now
	for key, s := range l.byKey {
		if now.Sub(s.at) > latestKept {
			delete(l.byKey, key)
		}
	}
}

// get returns the budget that is remembered, nil for none.
func (l *latest) get(key types.NamespacedName) *v1alpha1.PodUnavailableBudget {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.byKey[key].budget
}

func (l *latest) forget(key types.NamespacedName) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.byKey, key)
}
