// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
)

// CacheSyncTimeout is the default of ControllerOptions.CacheSyncTimeout.
const CacheSyncTimeout = 2 * time.Minute

// Filling fills the caches of Sources as long as it runs: it runs the informers that were made. Sources.Filling makes one, which
// starts no goroutine before Run.
type Filling struct {
	// name stands in logs and errors.
	name    string
	timeout time.Duration
	// informers are run.
	informers []cache.SharedIndexInformer
	// waits are what is waited for.
	waits []*cacheWait
	once  once
}

// cacheWait is a cache that is to be filled.
type cacheWait struct {
	resource podwright.Resource
	synced   cache.InformerSynced
	shared   bool                  // another one runs its informer
	failure  atomic.Pointer[error] // with which the last list or watch failed; nil for none
}

// note notes with what a list or watch failed, and logs it as client-go does.
func (w *cacheWait) note(ctx context.Context, reflector *cache.Reflector, err error) {
	w.failure.Store(&err)
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
}

// once lets something run once.
type once struct{ ran atomic.Bool }

// begin returns an error if it has run before. (CT-4)
func (o *once) begin(name string) error {
	if o.ran.Swap(true) {
		return fmt.Errorf("%s: Run was called before, and a controller runs once: make another one by New", name)
	}
	return nil
}

// Filling returns what fills the caches. The first one runs the informers that were made. A timeout of 0 is two minutes.
func (s *Sources) Filling(name string, timeout time.Duration) *Filling {
	f := &Filling{name: name, timeout: cmp.Or(timeout, CacheSyncTimeout), informers: s.own, waits: s.waits}
	s.own = nil
	return f
}

// Run runs the informers until the context is done, and waits for them. Once the caches are filled it calls work, which ends
// with the context at the latest; nil does nothing. It returns nil if the context is done, whenever that is. It returns an error
// if the caches are not filled in time, if work fails, or if it was called before.
func (f *Filling) Run(ctx context.Context, work func(context.Context) error) error {
	if err := f.once.begin(f.name); err != nil {
		return err
	}
	defer f.start(klog.NewContext(ctx, klog.FromContext(ctx).WithName(f.name)))()
	err := f.wait(ctx)
	if err == nil && work != nil && ctx.Err() == nil {
		err = work(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Fill is Run without work.
func (f *Filling) Fill(ctx context.Context) error { return f.Run(ctx, nil) }

// RunAfter runs a Filling, and something else once it is asked for, as the Fill of another one. It ends when the context is done or
// one of both fails, and waits for both.
func (f *Filling) RunAfter(ctx context.Context, asked <-chan struct{}, other func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		select {
		case <-asked:
			ended <- other(ctx)
		case <-ctx.Done():
			ended <- nil
		}
	}()
	err := f.Fill(ctx)
	cancel()
	return errors.Join(err, <-ended)
}

// HasSynced tells whether the caches have been filled.
func (f *Filling) HasSynced() bool {
	for _, w := range f.waits {
		if !w.synced() {
			return false
		}
	}
	return true
}

// start starts the informers. The function it returns stops them.
func (f *Filling) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, informer := range f.informers {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// wait waits until the caches are filled or the context is done. After the timeout it returns an error that names those
// that are not, and why.
func (f *Filling) wait(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	synced := make([]cache.InformerSynced, len(f.waits))
	for i, w := range f.waits {
		synced[i] = w.synced
	}
	if cache.WaitForCacheSync(bounded.Done(), synced...) || ctx.Err() != nil {
		return nil
	}
	var errs []error
	for _, w := range f.waits {
		if !w.synced() {
			errs = append(errs, w.err())
		}
	}
	return fmt.Errorf("%s: caches are not filled after %s: %w", f.name, f.timeout, errors.Join(errs...))
}

// err says why a cache is not filled, and what to do about it.
func (w *cacheWait) err() error {
	failure := w.failure.Load()
	switch {
	case failure == nil && w.shared:
		return fmt.Errorf("%s: its informer is shared: does the caller run it, is the resource served, and may the caller list and watch it", w.resource)
	case failure == nil:
		return fmt.Errorf("%s: the API server has not answered yet", w.resource)
	case apierrors.IsNotFound(*failure):
		return fmt.Errorf("%s: the API server does not serve it: install its CRD: %w", w.resource, *failure)
	case apierrors.IsForbidden(*failure):
		return fmt.Errorf("%s: the client may not list or watch it: Rules of the package returns the rights that it takes: %w", w.resource, *failure)
	}
	return fmt.Errorf("%s: %w", w.resource, *failure)
}
