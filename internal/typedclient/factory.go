// SPDX-License-Identifier: Apache-2.0

package typedclient

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// SharedInformers are informers by the name of their kind, each made once and run once. It is what the factories of shared informers consist of.
type SharedInformers struct {
	lock      sync.Mutex
	informers map[string]*sharedInformer
	running   sync.WaitGroup
	down      bool
}

type sharedInformer struct {
	cache.SharedIndexInformer
	started bool
}

// Informer returns the informer of a kind, which is made when it is asked for first.
func (s *SharedInformers) Informer(kind string, makeInformer func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	s.lock.Lock()
	defer s.lock.Unlock()
	if found := s.informers[kind]; found != nil {
		return found.SharedIndexInformer
	}
	if s.informers == nil {
		s.informers = map[string]*sharedInformer{}
	}
	made := &sharedInformer{SharedIndexInformer: makeInformer()}
	s.informers[kind] = made
	return made.SharedIndexInformer
}

// Start runs the informers that do not run yet.
func (s *SharedInformers) Start(ctx context.Context) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.down {
		return
	}
	for _, informer := range s.informers {
		if informer.started {
			continue
		}
		informer.started = true
		s.running.Go(func() { informer.RunWithContext(ctx) })
	}
}

// WaitForCacheSync waits for the informers that run. It names the first kind, by name, that it has waited for in vain.
func (s *SharedInformers) WaitForCacheSync(ctx context.Context) error {
	s.lock.Lock()
	started := maps.Clone(s.informers)
	maps.DeleteFunc(started, func(_ string, informer *sharedInformer) bool { return !informer.started })
	s.lock.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(started)) {
		if !cache.WaitForCacheSync(ctx.Done(), started[kind].HasSynced) {
			return fmt.Errorf("the cache of %ss is not filled: %w", kind, context.Cause(ctx))
		}
	}
	return nil
}

// Shutdown waits until all informers have ended.
func (s *SharedInformers) Shutdown() {
	s.lock.Lock()
	s.down = true
	s.lock.Unlock()
	s.running.Wait()
}
