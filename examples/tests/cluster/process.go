// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

var errStopped = errors.New("the cluster is stopped")

// process is one run of a component.
type process struct {
	name        string
	binary      string
	arguments   []string
	environment []string
	dir         string
	logFile     string
	// outlives says that the process has something to do when the parent dies, and then ends by itself.
	outlives bool
	// confined says that the process is in the namespaces of a machine, and dies with its first process.
	confined bool
	// namespaces are the kernel's flags for those that the process gets new.
	namespaces uintptr

	command *exec.Cmd
	// told is set before we end the process, to tell it from one that dies.
	told   atomic.Bool
	exited chan struct{}
	err    error
}

func (p *process) pid() int { return p.command.Process.Pid }

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// outcome says how the process ended; call it after exited is closed.
func (p *process) outcome() error {
	if p.err == nil {
		return errors.New("it exited with code 0")
	}
	return p.err
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.command.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to %s: %w", s, p.name, err)
	}
	return nil
}

// logTail returns the last lines of the component's log.
func (p *process) logTail() string {
	const most = 4096
	file, err := os.Open(p.logFile)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	tail, _ := io.ReadAll(file)
	lines := strings.Split(string(bytes.TrimSpace(tail)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// launcher starts processes that end when this program does. What it runs, it runs on one thread of its own.
type launcher struct {
	// Children read from one end; we keep the other open and never write.
	childEnd, ourEnd *os.File
	requests         chan func()
	closeOnce        sync.Once
}

// newLauncher returns a launcher whose thread has first called enter, unless that is nil.
func newLauncher(enter func() error) (*launcher, error) {
	childEnd, ourEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe to the components: %w", err)
	}
	l := &launcher{childEnd: childEnd, ourEnd: ourEnd, requests: make(chan func())}
	entered := make(chan error, 1)
	go l.run(enter, entered)
	if err := <-entered; err != nil {
		childEnd.Close()
		ourEnd.Close()
		return nil, err
	}
	return l, nil
}

// run answers requests on a thread of its own, which ends with it.
func (l *launcher) run(enter func() error, entered chan<- error) {
	// Linux ties a child to the thread that started it, not to the process. This goroutine keeps its thread for as long
	// as there may be children.
	runtime.LockOSThread()
	if enter != nil {
		if onFirstThread() {
			// What enter does to the first thread would look like done to this program. We keep that one busy meanwhile.
			done := make(chan struct{})
			go func() {
				defer close(done)
				l.run(enter, entered)
			}()
			<-done
			runtime.UnlockOSThread()
			return
		}
		if err := enter(); err != nil {
			entered <- err
			return
		}
	}
	entered <- nil
	for request := range l.requests {
		request()
	}
}

// do runs a function on the launcher's thread.
func (l *launcher) do(f func() error) error {
	done := make(chan error, 1)
	l.requests <- func() { done <- f() }
	return <-done
}

// close lets go of the children: those that still run end.
func (l *launcher) close() {
	l.closeOnce.Do(func() {
		close(l.requests)
		l.ourEnd.Close()
		l.childEnd.Close()
	})
}

// start runs the process; its exited channel is closed when it has ended.
func (l *launcher) start(p *process) error {
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.Command(p.binary, p.arguments...)
	p.command.Dir = p.dir
	p.command.Env = append(os.Environ(), p.environment...)
	p.command.Stdin, p.command.Stdout, p.command.Stderr = l.childEnd, log, log
	p.command.SysProcAttr = processAttributes(p)
	p.exited = make(chan struct{})
	if err := l.do(p.command.Start); err != nil {
		return err
	}
	go func() {
		p.err = p.command.Wait()
		close(p.exited)
	}()
	return nil
}

// lockedWriter lets several goroutines write whole messages. Its zero writer is silent.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) printf(format string, arguments ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w != nil {
		fmt.Fprintf(l.w, format, arguments...)
	}
}
