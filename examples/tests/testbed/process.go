// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// programEnv makes a test binary the program that it names.
const programEnv = "PODWRIGHT_TESTBED_PROGRAM"

// process is a program that can be killed and started again: the test binary, told to be one.
type process struct {
	// Name is that of its log file, NAME.log in the directory of the control plane.
	Name string
	// Health is the address on which it serves /healthz and /readyz.
	Health string

	program   string
	logFile   string
	arguments []string

	mu      sync.Mutex
	command *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
}

func (b *Testbed) newProcess(program, name, health string, arguments []string) *process {
	return &process{Name: name, Health: health, program: program, logFile: filepath.Join(b.Control.Dir(), name+".log"), arguments: arguments}
}

// with returns the process with further arguments, not yet started.
func (p *process) with(arguments []string) *process {
	return &process{Name: p.Name, Health: p.Health, program: p.program, logFile: p.logFile, arguments: slices.Concat(p.arguments, arguments)}
}

// beProgram has the test binary be a program, if it is told to, and does not return then.
func beProgram() {
	main, told := programs[os.Getenv(programEnv)]
	if !told {
		return
	}
	// Standard input ends when the tests do, however they do.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	os.Exit(main(os.Args[1:]))
}

// Start returns as soon as the process runs.
func (p *process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("%s runs already", p.Name)
	}
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(os.Args[0], p.arguments...)
	command.Env = append(os.Environ(), programEnv+"="+p.program)
	command.Stdout, command.Stderr = log, log
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	exited := make(chan struct{})
	p.command, p.stdin, p.exited = command, stdin, exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	return nil
}

// running is called with the lock held.
func (p *process) running() bool {
	if p.command == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Kill is kill -9. It returns when the process is gone.
func (p *process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return
	}
	_ = p.command.Process.Kill()
	<-p.exited
	p.stdin.Close()
}

// Pause stops the process where it stands (SIGSTOP). Its connections stay open, and it can still be killed.
func (p *process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (p *process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return fmt.Errorf("send %v to %s: it does not run", s, p.Name)
	}
	return p.command.Process.Signal(s)
}

// Running tells whether the process has been started and has not ended.
func (p *process) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running()
}

// Get returns what the program answers on one of its addresses.
func (p *process) Get(address, path string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get("http://" + address + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

// AwaitReady waits until the program says that it is ready, or the context is done.
func (p *process) AwaitReady(ctx context.Context) error {
	return Repeat(ctx, p.Name+" to be ready", func() error { _, err := p.Get(p.Health, "/readyz"); return err })
}

// LogTail returns the last lines of the log, and before them the last ones that name what is given.
func (p *process) LogTail(about string) string {
	data, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var relevant []string
	for _, line := range lines {
		if about != "" && strings.Contains(line, about) {
			relevant = append(relevant, line)
		}
	}
	return strings.Join(append(Last(relevant, 15), Last(lines, 15)...), "\n")
}

// Last returns the last n of all, or all if there are fewer.
func Last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// Names returns the names of objects, sorted.
func Names[T metav1.Object](objects []T) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetName())
	}
	slices.Sort(all)
	return all
}
