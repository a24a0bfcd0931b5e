// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// pulls are the pulls that an agent knows of.
type pulls struct {
	// attempt makes one attempt, and returns the ID of the image.
	attempt func(context.Context, *Start) (imageID string, err error)
	wake    func(types.NamespacedName)
	clock   clock.PassiveClock

	lock    sync.Mutex
	of      map[Task]*pull
	running sync.WaitGroup
}

type pull struct {
	Pull
	cancel context.CancelCauseFunc
}

// list returns what is known of all pulls.
func (p *pulls) list() []Pull {
	p.lock.Lock()
	defer p.lock.Unlock()
	list := make([]Pull, 0, len(p.of))
	for _, one := range p.of {
		list = append(list, one.Pull)
	}
	return list
}

// start starts an attempt, which goes on when the reconcile has ended.
func (p *pulls) start(ctx context.Context, key types.NamespacedName, s *Start) {
	logger := klog.FromContext(ctx).WithValues("image", s.Reference, "version", s.Version)
	ctx, cancel := context.WithCancelCause(klog.NewContext(context.WithoutCancel(ctx), logger))
	p.lock.Lock()
	defer p.lock.Unlock()
	one := p.of[s.Task]
	if one == nil || one.Version != s.Version {
		one = &pull{Pull: Pull{Task: s.Task, Version: s.Version, Since: p.clock.Now()}}
		p.of[s.Task] = one
	}
	one.Running, one.Former, one.Namespaces, one.cancel = true, false, s.Namespaces, cancel
	p.running.Go(func() {
		defer cancel(nil)
		logger.Info("Pulling", "attempt", one.Failures+1, "timeout", s.Timeout)
		id, err := p.attempt(ctx, s)
		if p.ended(one, id, err) {
			logger.Info("Pulled", "err", err)
			p.wake(key)
		}
	})
}

// adopt has the attempt under way of a task serve another version from now on. (IMG-3.2)
func (p *pulls) adopt(a Adopt) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if one := p.of[a.Task]; one != nil && one.Running && one.Version != a.Version {
		one.Pull = one.Pull.adopted(a.Version, p.clock.Now())
	}
}

// ended notes how an attempt ended; it returns false if that is not wanted any more.
func (p *pulls) ended(one *pull, id string, err error) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.of[one.Task] != one {
		return false
	}
	one.Running, one.Ended = false, p.clock.Now()
	switch {
	case err == nil:
		one.Succeeded, one.ImageID = true, id
	case one.Former: // this version has made no attempt yet
		one.Former, one.Err = false, err
	default:
		one.Failures, one.Err = one.Failures+1, err
	}
	return true
}

// forget drops what is known of a pull, and ends the attempt that is under way.
func (p *pulls) forget(task Task, reason string) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if one := p.of[task]; one != nil {
		one.cancel(errors.New(reason))
		delete(p.of, task)
	}
}

// close ends all attempts and waits for them.
func (p *pulls) close() {
	for _, one := range p.list() {
		p.forget(one.Task, "the agent ends")
	}
	p.running.Wait()
}
