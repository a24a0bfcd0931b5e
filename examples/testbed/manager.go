package testbed

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// managerEnv makes a test binary a manager.
const managerEnv = "PODWRIGHT_TESTBED_MANAGER"

// Manager is a manager that can be killed and started again: the test binary, told to be one.
type Manager struct {
	// Name is that of its log file, NAME.log in the directory of the control plane.
	Name string
	// Metrics and Health are the addresses on which it serves /metrics, and /healthz and /readyz.
	Metrics, Health string

	logFile   string
	arguments []string

	mu      sync.Mutex
	command *exec.Cmd
	stdin   io.Closer
	exited  chan struct{}
}

// NewManager returns a manager with addresses of its own, not yet started. A webhook's address is part of what the API
// server stores, so it stays the same over restarts. The arguments win over those that every manager here is given.
func (b *Testbed) NewManager(name string, arguments ...string) (*Manager, error) {
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	m := &Manager{Name: name, Metrics: ports[0], Health: ports[1], logFile: filepath.Join(b.Control.Dir(), name+".log")}
	_, webhookPort, _ := net.SplitHostPort(ports[2])
	m.arguments = append([]string{
		"--kubeconfig=" + b.account.Kubeconfig, "--create-own-namespace", "--install-crds",
		"--metrics-addr=" + m.Metrics, "--health-probe-addr=" + m.Health,
		"--webhook-host=127.0.0.1", "--webhook-bind-address=127.0.0.1", "--webhook-port=" + webhookPort,
		"--webhook-cert-writer=secret", "--cloneset-workers=10", "--statefulset-workers=10", "-v=2",
	}, arguments...)
	return m, nil
}

// With returns a manager at the same addresses, not yet started, that is given further arguments.
func (m *Manager) With(arguments ...string) *Manager {
	return &Manager{Name: m.Name, Metrics: m.Metrics, Health: m.Health, logFile: m.logFile,
		arguments: slices.Concat(m.arguments, arguments)}
}

// KubeconfigVia writes a kubeconfig with which a manager reaches the API server by another address, and returns its path.
func (b *Testbed) KubeconfigVia(name, address string) (string, error) {
	config, err := clientcmd.LoadFromFile(b.account.Kubeconfig)
	if err != nil {
		return "", err
	}
	for _, server := range config.Clusters {
		server.Server = "https://" + address
	}
	file := filepath.Join(b.Control.Dir(), name+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
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

// Start returns as soon as the process runs.
func (m *Manager) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running() {
		return fmt.Errorf("%s runs already", m.Name)
	}
	log, err := os.OpenFile(m.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(os.Args[0], m.arguments...)
	command.Env = append(os.Environ(), managerEnv+"=1")
	command.Stdout, command.Stderr = log, log
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", m.Name, err)
	}
	exited := make(chan struct{})
	m.command, m.stdin, m.exited = command, stdin, exited
	go func() {
		_ = command.Wait()
		close(exited)
	}()
	return nil
}

// running is called with the lock held.
func (m *Manager) running() bool {
	if m.command == nil {
		return false
	}
	select {
	case <-m.exited:
		return false
	default:
		return true
	}
}

// Kill is kill -9. It returns when the process is gone.
func (m *Manager) Kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running() {
		return
	}
	_ = m.command.Process.Kill()
	<-m.exited
	m.stdin.Close()
}

// Pause stops the process where it stands (SIGSTOP). Its connections stay open, and it can still be killed.
func (m *Manager) Pause() error { return m.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (m *Manager) Resume() error { return m.signal(syscall.SIGCONT) }

func (m *Manager) signal(s syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running() {
		return fmt.Errorf("send %v to %s: it does not run", s, m.Name)
	}
	return m.command.Process.Signal(s)
}

// Running tells whether the process has been started and has not ended.
func (m *Manager) Running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.running()
}

// Get returns what the manager answers on one of its addresses.
func (m *Manager) Get(address, path string) (string, error) {
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

// LogTail returns the last lines of the log, and before them the last ones that name what is given.
func (m *Manager) LogTail(about string) string {
	data, err := os.ReadFile(m.logFile)
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

// Last returns the last n of all, or all where there are fewer.
func Last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }
