// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/klog/v2"
)

// Each calls do for 0 to n-1, at most limit at a time, and waits for all of
// them. One failure does not stop the others; the errors are joined. After the
// context is done, no further call starts and its cause is among the errors. A
// call that panics has failed.
func Each(ctx context.Context, n, limit int, do func(i int) error) error {
	_, err := each(ctx, 0, n, limit, do)
	return err
}

// SlowStart is Each in batches of 1, 2, 4 and so on. It keeps a request that
// cannot succeed, a pod over quota for example, from being sent n times. A batch
// in which any call fails is the last one if patience is 1. Otherwise the
// next batch is of one call again, and as many failing batches in a row as
// patience says are the last. It returns how many calls succeeded.
func SlowStart(ctx context.Context, n, limit, patience int, do func(i int) error) (succeeded int, err error) {
	var errs []error
	failing := 0
	for start, size := 0, 1; start < n && failing < patience; {
		end := min(start+size, n)
		ok, err := each(ctx, start, end, limit, do)
		succeeded += ok
		start, size = end, size*2
		if err == nil {
			failing = 0
			continue
		}
		errs = append(errs, err)
		size, failing = 1, failing+1
	}
	return succeeded, errors.Join(errs...)
}

func each(ctx context.Context, start, end, limit int, do func(i int) error) (succeeded int, err error) {
	var (
		wg   sync.WaitGroup
		lock sync.Mutex
		errs []error
		next = start
	)
	take := func() (int, bool) {
		lock.Lock()
		defer lock.Unlock()
		if next >= end {
			return 0, false
		}
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			next = end
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range min(limit, end-start) {
		wg.Go(func() {
			for i, more := take(); more; i, more = take() {
				err := Safely(ctx, func() error { return do(i) })
				lock.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					succeeded++
				}
				lock.Unlock()
			}
		})
	}
	wg.Wait()
	return succeeded, errors.Join(errs...)
}

// Safely returns what do returns, and a panic as an error. One would end the process
// in a goroutine of Each, whose caller cannot recover from it. The stack
// goes to the log alone: errors end up in conditions, in which they must not change each time.
func Safely(ctx context.Context, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
			klog.FromContext(ctx).Error(err, "A write panicked", "stack", string(debug.Stack()))
		}
	}()
	return do()
}
