// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// components are processes that can be killed, restarted and held up one by one, by their names.
type components struct {
	names    []string
	log      *lockedWriter
	launcher *launcher
	// describe returns what to run. It is called for every start.
	describe func(name string) (*process, error)
	// ready looks once whether a component serves.
	ready func(ctx context.Context, name string) error

	mu        sync.Mutex
	processes map[string]*process
	stopped   bool
}

// start runs a component and returns when it serves. It fails with the end of the component's log when the process ends first.
func (c *components) start(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := c.spawn(name)
	if err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	for begin := time.Now(); ; {
		last := c.ready(ctx, name)
		if last == nil {
			return nil
		}
		select {
		case <-p.exited:
			if gaveUp(name, p.logTail()) {
				if p, err = c.spawn(name); err != nil {
					return fmt.Errorf("start %s again: %w", name, err)
				}
				continue
			}
			return fmt.Errorf("%s did not come up: %w; the end of %s:\n%s", name, p.outcome(), p.logFile, p.logTail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w (%w); the end of %s:\n%s", name, last, ctx.Err(), p.logFile, p.logTail())
		case <-time.After(max(pollInterval, time.Since(begin)/20)): // to ask costs a slow component part of its time
		}
	}
}

// gaveUp tells from the end of its log whether a component ended for a reason for which its service manager starts it again. What
// it was given is not at fault then.
func gaveUp(name, log string) bool {
	switch name {
	case APIServer:
		// The API server has a minute to list the addresses and ports of services. On a busy machine, a handshake with itself may
		// take more than ten seconds. Then the list fails, and the API server tries again only after three minutes.
		return strings.Contains(log, `PostStartHook "start-service-ip-repair-controllers" failed`)
	case Kwok:
		// Several of its goroutines build the environment of its stages, without a lock. If two do so at once, kwok crashes.
		return strings.Contains(log, "lifecycle.(*Stage).init")
	}
	return false
}

// spawn starts the process of a component and watches it.
func (c *components) spawn(name string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return nil, errStopped
	}
	if p := c.processes[name]; p != nil && p.alive() {
		return nil, fmt.Errorf("it already runs as process %d", p.pid())
	}
	p, err := c.describe(name)
	if err != nil {
		return nil, err
	}
	if err := c.launcher.start(p); err != nil {
		return nil, err
	}
	c.processes[name] = p
	go c.watch(p)
	return p, nil
}

// launch starts a process that is no component.
func (c *components) launch(p *process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return errStopped
	}
	return c.launcher.start(p)
}

// watch tells of a component that ends without having been told to.
func (c *components) watch(p *process) {
	<-p.exited
	if !p.told.Load() {
		c.log.printf("%s ended: %v; the end of %s:\n%s\n", p.name, p.outcome(), p.logFile, p.logTail())
	}
}

// running returns the process of a component, or an error if there is none.
func (c *components) running(name string) (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.processes[name]; p != nil {
		return p, nil
	}
	if !slices.Contains(c.names, name) {
		return nil, fmt.Errorf("no component is called %q; there are %s", name, strings.Join(c.names, ", "))
	}
	return nil, fmt.Errorf("%s has not been started", name)
}

// halt asks a component to end and kills it after the grace period. It returns when the process is gone.
func (c *components) halt(name string, grace time.Duration) {
	p, err := c.running(name)
	if err != nil {
		return
	}
	p.told.Store(true)
	if grace > 0 {
		_ = p.signal(syscall.SIGTERM)
		// A stopped process does not see the signal before it is continued.
		_ = p.signal(syscall.SIGCONT)
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	_ = p.signal(syscall.SIGKILL)
	<-p.exited
}

// Done returns a channel that is closed when the component's present process has ended, however it ended. For an unknown
// component the channel is closed already.
func (c *components) Done(component string) <-chan struct{} {
	p, err := c.running(component)
	if err != nil {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return p.exited
}

// Kill ends a component with SIGKILL and returns when its process is gone. It is no error if it was gone already.
func (c *components) Kill(component string) error {
	if _, err := c.running(component); err != nil {
		return err
	}
	c.halt(component, 0)
	return nil
}

// Restart starts a component again, on the same port and data, and returns when it is ready. One that still runs is first
// asked to end, and killed if it does not within two seconds.
func (c *components) Restart(ctx context.Context, component string) error {
	if _, err := c.running(component); err != nil {
		return err
	}
	c.halt(component, stopGrace)
	return c.start(ctx, component)
}

// Pause stops a component where it stands (SIGSTOP), as a machine does that swaps or a process that is starved, and
// returns when it stands. Its connections stay open.
func (c *components) Pause(component string) error {
	p, err := c.running(component)
	if err != nil {
		return err
	}
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.command.Process.Pid)
}

// Resume lets a paused component go on (SIGCONT).
func (c *components) Resume(component string) error {
	p, err := c.running(component)
	if err != nil {
		return err
	}
	return p.signal(syscall.SIGCONT)
}
