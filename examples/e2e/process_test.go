package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// process is a manager that can be killed and started again: this test binary, told to be one.
type process struct {
	name, metrics, health, logFile string
	arguments                      []string

	mu      sync.Mutex
	command *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
}

// newManager returns a manager with addresses of its own, not yet started. A webhook's address is part of what the API
// server stores, so it stays the same over restarts.
func newManager(name string, arguments ...string) (*process, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, metrics: ports[0], health: ports[1], logFile: filepath.Join(control.Dir(), name+".log")}
	_, webhookPort, _ := net.SplitHostPort(ports[2])
	p.arguments = append([]string{
		"--kubeconfig=" + control.Kubeconfig(), "--create-own-namespace", "--install-crds",
		"--metrics-addr=" + p.metrics, "--health-probe-addr=" + p.health,
		"--webhook-host=127.0.0.1", "--webhook-bind-address=127.0.0.1", "--webhook-port=" + webhookPort,
		"--webhook-cert-writer=secret", "--cloneset-workers=10", "-v=2",
	}, arguments...)
	return p, nil
}

// nextPort is where the search for a free port goes on, so that none is given twice while its manager is down. It lies below
// the range from which the kernel takes ports by itself.
var nextPort = 32000 - os.Getpid()%5000

// freePorts returns addresses that nobody listens on.
func freePorts(n int) ([]string, error) {
	var free []string
	for ; len(free) < n && nextPort > 20000; nextPort-- {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nextPort))
		if err != nil {
			continue
		}
		free = append(free, listener.Addr().String())
		listener.Close()
	}
	if len(free) < n {
		return nil, fmt.Errorf("no %d free ports on 127.0.0.1 above 20000", n)
	}
	return free, nil
}

// start returns as soon as the process runs.
func (p *process) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() {
		return fmt.Errorf("%s runs already", p.name)
	}
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(os.Args[0], p.arguments...)
	command.Env = append(os.Environ(), managerEnv+"=1")
	command.Stdout, command.Stderr = log, log
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
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

// kill is kill -9. It returns when the process is gone.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.running() {
		return
	}
	_ = p.command.Process.Kill()
	<-p.exited
	p.stdin.Close()
}

// revive makes sure at the end of a test that the next one finds a manager at work.
func (p *process) revive(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	running := p.running()
	p.mu.Unlock()
	if !running {
		if err := p.start(); err != nil {
			t.Errorf("start %s again: %v", p.name, err)
		}
	}
	if err := webhooksAreCalled(context.Background()); err != nil {
		t.Errorf("%s has been started again: %v", p.name, err)
	}
}

// get returns what the manager answers on one of its addresses.
func (p *process) get(address, path string) (string, error) {
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

// logTail returns the last lines of the log, and before them the last ones that name what is given.
func (p *process) logTail(about string) string {
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
	return strings.Join(append(last(relevant, 15), last(lines, 15)...), "\n")
}

func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }
