// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// rememberedJobs is how many jobs that are gone need not be asked for again.
const rememberedJobs = 1024

// goneJobs remembers which jobs the API server has said not to exist, the latest
// ones. A UID never comes back. A job that goes has the reconciles of all its nodes
// want to know at the same time. One of them asks, and the others wait for the
// answer.
type goneJobs struct {
	known *lru.Cache // by UID

	lock    sync.Mutex
	pending map[types.UID]*look
}

// look is a question to the API server that is not answered.
type look struct {
	answered chan struct{} // closed when the fields below are set
	gone     bool
	err      error
}

func newGoneJobs() *goneJobs {
	return &goneJobs{known: lru.New(rememberedJobs), pending: map[types.UID]*look{}}
}

// find tells whether a job is gone. It calls ask if that is not known, and
// no other caller asks.
func (g *goneJobs) find(ctx context.Context, uid types.UID, ask func() (gone bool, err error)) (bool, error) {
	g.lock.Lock()
	if _, known := g.known.Get(uid); known {
		g.lock.Unlock()
		return true, nil
	}
	if l := g.pending[uid]; l != nil {
		g.lock.Unlock()
		select {
		case <-l.answered:
			return l.gone, l.err
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	l := &look{answered: make(chan struct{})}
	g.pending[uid] = l
	g.lock.Unlock()

	l.gone, l.err = ask()
	g.lock.Lock()
	defer g.lock.Unlock()
	if l.gone && l.err == nil {
		g.known.Add(uid, nil)
	}
	delete(g.pending, uid)
	close(l.answered)
	return l.gone, l.err
}
