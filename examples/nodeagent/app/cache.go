package app

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/cache"
)

// nodeCache caches objects of the node, if a feature asks for them.
type nodeCache struct {
	informer cache.SharedIndexInformer

	lock            sync.Mutex
	wanted, running bool
}

// shared returns the informer.
func (c *nodeCache) shared() cache.SharedIndexInformer {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.wanted = true
	return c.informer
}

// run fills the cache in a goroutine of the group until the context is done,
// where a feature has asked for it. It can be called by each of them.
func (c *nodeCache) run(ctx context.Context, group *errgroup.Group) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.wanted && !c.running {
		c.running = true
		group.Go(func() error { c.informer.RunWithContext(ctx); return nil })
	}
}

// synced tells whether the cache has been filled, or is not needed.
func (c *nodeCache) synced() bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	return !c.wanted || c.informer.HasSynced()
}
