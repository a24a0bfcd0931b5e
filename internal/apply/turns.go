// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"sync"
)

// turns has things that are done at the same time ask one after the other, in the order of the plan. What a budget allows
// must not depend on which goroutine comes first. Each of them ends its turn, whether or not it has asked. (CT-10)
type turns struct {
	lock    sync.Mutex
	ended   []bool
	next    int // the first whose turn has not ended
	waiting map[int]chan struct{}
}

func newTurns(n int) *turns { return &turns{ended: make([]bool, n), waiting: map[int]chan struct{}{}} }

// wait waits until the turns of all before have ended.
func (t *turns) wait(ctx context.Context, i int) error {
	t.lock.Lock()
	if i <= t.next {
		t.lock.Unlock()
		return nil
	}
	mine := make(chan struct{})
	t.waiting[i] = mine
	t.lock.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end ends a turn. It may be called again.
func (t *turns) end(i int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.ended[i] = true
	for t.next < len(t.ended) && t.ended[t.next] {
		t.next++
	}
	if mine, waits := t.waiting[t.next]; waits {
		delete(t.waiting, t.next)
		close(mine)
	}
}
