// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// echo listens on an address, and answers every line with itself until the end of the connection.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				_, _ = io.Copy(connection, connection)
			}()
		}
	}()
	return listener.Addr().String()
}

func newLink(t *testing.T, target string) *Link {
	t.Helper()
	l, err := New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// client is a connection through a link.
type client struct {
	t *testing.T
	net.Conn
	lines *bufio.Reader
}

func connect(t *testing.T, l *Link) *client {
	t.Helper()
	connection, err := net.Dial("tcp", l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &client{t, connection, bufio.NewReader(connection)}
}

func (c *client) send(line string) error {
	_, err := fmt.Fprintln(c, line)
	return err
}

// answered sends a line and wants it back.
func (c *client) answered(line string) {
	c.t.Helper()
	if err := c.send(line); err != nil {
		c.t.Fatalf("send %q: %v", line, err)
	}
	c.receives(line)
}

func (c *client) receives(line string) {
	c.t.Helper()
	if got, err := c.lines.ReadString('\n'); got != line+"\n" {
		c.t.Fatalf("expected the answer %q, observed %q, %v", line, got, err)
	}
}

// refuses wants a new connection to be reset, which may be before the client knows that it has one.
func refuses(t *testing.T, l *Link) {
	t.Helper()
	connection, err := net.Dial("tcp", l.Address())
	if errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	(&client{t, connection, bufio.NewReader(connection)}).isReset()
}

// isReset wants the connection to end with a reset, sooner or later.
func (c *client) isReset() {
	c.t.Helper()
	for {
		if err := c.send("anybody there"); err != nil {
			if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
				c.t.Fatalf("expected a reset, observed %v", err)
			}
			return
		}
		if _, err := c.lines.ReadString('\n'); err != nil {
			if !errors.Is(err, syscall.ECONNRESET) {
				c.t.Fatalf("expected a reset, observed %v", err)
			}
			return
		}
	}
}

func TestHealthy(t *testing.T) {
	l := newLink(t, echo(t))
	c := connect(t, l)
	c.answered("one")
	c.answered("two")
	if n := l.Connections(); n != 1 {
		t.Errorf("expected one connection, observed %d", n)
	}
	// The end of one direction reaches the other side, and what was sent before it too.
	if err := c.send("three"); err != nil {
		t.Fatal(err)
	}
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	c.receives("three")
	if _, err := c.lines.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("expected the end, observed %v", err)
	}
}

func TestCut(t *testing.T) {
	l := newLink(t, echo(t))
	before := connect(t, l)
	before.answered("one")
	l.Cut()
	before.isReset()
	refuses(t, l)
	l.Heal()
	connect(t, l).answered("two")
}

func TestRefuse(t *testing.T) {
	l := newLink(t, echo(t))
	before := connect(t, l)
	before.answered("one")
	l.Refuse()
	refuses(t, l)
	before.answered("two")
	l.Heal()
	connect(t, l).answered("three")
}

func TestHang(t *testing.T) {
	l := newLink(t, echo(t))
	before := connect(t, l)
	before.answered("one")
	l.Hang()
	during := connect(t, l)
	for _, c := range []*client{before, during} {
		if err := c.send("two"); err != nil {
			t.Fatal(err)
		}
		if err := c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if line, err := c.lines.ReadString('\n'); err == nil || line != "" {
			t.Fatalf("expected no answer, observed %q", line)
		}
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	l.Heal() // nothing is lost
	before.receives("two")
	during.receives("two")
	l.Hang()
	if err := before.send("never"); err != nil {
		t.Fatal(err)
	}
	l.Cut() // also what hangs is reset
	before.isReset()
}

func TestSlow(t *testing.T) {
	l := newLink(t, echo(t))
	c := connect(t, l)
	const delay = 50 * time.Millisecond
	l.Slow(delay)
	begin := time.Now()
	c.answered("one")
	if took := time.Since(begin); took < 2*delay {
		t.Errorf("expected an answer after %v in both directions, observed it after %v", delay, took)
	}
}

func TestTargetIsAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(t, listener.Addr().String())
	listener.Close()
	refuses(t, l)
}

func TestClose(t *testing.T) {
	l := newLink(t, echo(t))
	c := connect(t, l)
	c.answered("one")
	l.Hang()
	if err := c.send("two"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	c.isReset()
	l.Heal() // too late
	if connection, err := net.Dial("tcp", l.Address()); err == nil {
		connection.Close()
		t.Errorf("expected no listener at %s, observed a connection", l.Address())
	}
}
