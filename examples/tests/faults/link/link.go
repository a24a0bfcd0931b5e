// SPDX-License-Identifier: Apache-2.0

// Package link is a network between two programs on one machine that a test breaks in the ways in which networks break.
// It forwards TCP connections to a target, resets them, lets them hang without a byte, or slows them down. What it does
// not do is lose bytes of a connection that lives on, since TCP does not either.
package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Link forwards connections. It begins healthy.
type Link struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu          sync.Mutex
	condition   condition
	changed     chan struct{} // closed when the condition changes
	connections map[*connection]struct{}
}

// condition is what a link does to connections. The zero value is healthy.
type condition struct {
	refuse, hang, closed bool
	delay                time.Duration
}

// connection is one that is forwarded: both of its ends.
type connection struct {
	client, target net.Conn
	gone           chan struct{} // closed with the ends
	once           sync.Once
}

// New returns a link to a TCP address, which need not listen yet.
func New(target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("link to %s: %w", target, err)
	}
	l := &Link{target: target, listener: listener, changed: make(chan struct{}), connections: map[*connection]struct{}{}}
	l.running.Go(l.accept)
	return l, nil
}

// Address is the one to connect to instead of the target. It stays the same.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Heal makes the link healthy: what hangs goes on, and new connections are accepted.
func (l *Link) Heal() { l.become(condition{}) }

// Refuse resets new connections. Those that exist go on.
func (l *Link) Refuse() { l.become(condition{refuse: true}) }

// Cut resets all connections, and new ones too.
func (l *Link) Cut() {
	l.become(condition{refuse: true})
	l.reset()
}

// Hang lets no byte through any more, nor the end of a connection. Connections stay, and new ones are accepted, but not
// answered.
func (l *Link) Hang() { l.become(condition{hang: true}) }

// Slow holds back what passes: at most 32 KiB at once, in each direction of a connection, and that much later.
func (l *Link) Slow(delay time.Duration) { l.become(condition{delay: delay}) }

// Connections returns how many there are.
func (l *Link) Connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.connections)
}

// Close resets all connections and returns when nothing of the link runs any more.
func (l *Link) Close() {
	l.become(condition{refuse: true, closed: true})
	l.listener.Close()
	l.reset()
	l.running.Wait()
}

// become changes the condition, except that a closed link stays closed.
func (l *Link) become(c condition) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.condition.closed {
		return
	}
	l.condition = c
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Link) present() (condition, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.condition, l.changed
}

func (l *Link) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.connections {
		c.reset()
	}
}

// accept forwards connections until the listener is closed.
func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // this connection is lost
		}
		l.running.Go(func() { l.forward(client) })
	}
}

// forward carries a connection until both of its directions have ended.
func (l *Link) forward(client net.Conn) {
	c := &connection{client: client, gone: make(chan struct{})}
	if condition, _ := l.present(); condition.refuse {
		c.reset()
		return
	}
	target, err := net.Dial("tcp", l.target)
	if err != nil {
		c.reset()
		return
	}
	c.target = target
	if !l.add(c) {
		c.reset()
		return
	}
	var directions sync.WaitGroup
	directions.Go(func() { l.carry(c, c.target, c.client) })
	directions.Go(func() { l.carry(c, c.client, c.target) })
	directions.Wait()
	l.mu.Lock()
	delete(l.connections, c)
	l.mu.Unlock()
	c.reset()
}

// add takes note of a connection. It fails if new ones have become unwelcome meanwhile.
func (l *Link) add(c *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.condition.refuse {
		l.connections[c] = struct{}{}
	}
	return !l.condition.refuse
}

// carry moves one direction of a connection, up to its end.
func (l *Link) carry(c *connection, to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !l.pass(c) {
			return
		}
		if _, failed := to.Write(buffer[:n]); failed != nil {
			c.reset()
			return
		}
		if errors.Is(err, io.EOF) {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
		if err != nil {
			c.reset()
			return
		}
	}
}

// pass returns when something may pass. It is false when the connection is gone by then.
func (l *Link) pass(c *connection) bool {
	for {
		condition, changed := l.present()
		if !condition.hang {
			select {
			case <-c.gone:
				return false
			case <-time.After(condition.delay):
				return true
			}
		}
		select {
		case <-c.gone:
			return false
		case <-changed:
		}
	}
}

// reset ends both ends with a reset instead of a proper end.
func (c *connection) reset() {
	c.once.Do(func() {
		close(c.gone)
		for _, end := range []net.Conn{c.client, c.target} {
			if end != nil {
				_ = end.(*net.TCPConn).SetLinger(0)
				end.Close()
			}
		}
	})
}
