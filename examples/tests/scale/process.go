// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/rig"
)

// program is the manager, which is started again and again.
type program struct {
	binary, log string
	arguments   []string
	metrics     string // address of /metrics
	health      string
	pprof       string
	memoryLimit string // GOMEMLIMIT
	command     *exec.Cmd
}

// build compiles the manager, as users do, into a folder.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "manager")
	compile := exec.CommandContext(ctx, "go", "build", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", binary, "github.com/podwright/podwright/examples/manager")
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the manager: %w\n%s", err, out)
	}
	return binary, nil
}

func newProgram(ctx context.Context, control *cluster.Cluster, memoryLimit string) (*program, error) {
	binary, err := build(ctx, control.Dir())
	if err != nil {
		return nil, err
	}
	var addresses [4]string
	for i := range addresses {
		port, err := cluster.FreePort()
		if err != nil {
			return nil, err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	_, webhooks, _ := net.SplitHostPort(addresses[3])
	return &program{
		binary: binary, log: filepath.Join(control.Dir(), "manager.log"), metrics: addresses[0], health: addresses[1], pprof: addresses[2],
		memoryLimit: memoryLimit,
		arguments: []string{
			"--kubeconfig=" + control.Kubeconfig(), "--create-own-namespace", "--install-crds", "--leader-elect=false",
			"--metrics-addr=" + addresses[0], "--health-probe-addr=" + addresses[1], "--pprof-addr=" + addresses[2],
			"--webhook-host=127.0.0.1", "--webhook-bind-address=127.0.0.1", "--webhook-port=" + webhooks, "--webhook-cert-writer=secret",
			"--feature-gates=SidecarTerminator=true,ResourceDistributionGate=true",
		},
	}, nil
}

// up returns when the process runs and its webhooks answer.
func (p *program) up(ctx context.Context) error {
	if p.command == nil {
		if err := p.start(); err != nil {
			return err
		}
	}
	err := rig.Until(ctx, "the manager to be ready", func(context.Context) error { _, err := get("http://" + p.health + "/readyz"); return err })
	if err != nil {
		err = fmt.Errorf("%w; the log:\n%s", err, p.tail())
	}
	return err
}

// start returns when the process runs.
func (p *program) start() error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	p.command = exec.Command(p.binary, p.arguments...)
	p.command.Stdout, p.command.Stderr = log, log
	p.command.Env = append(os.Environ(), "GOGC=", "GOMEMLIMIT="+p.memoryLimit) // not what tests have
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p.command.Start()
}

// stop ends the process in order.
func (p *program) stop() error {
	if p.command == nil {
		return nil
	}
	err := errors.Join(p.command.Process.Signal(syscall.SIGTERM), p.command.Wait())
	p.command = nil
	if err != nil {
		err = fmt.Errorf("%w; the log:\n%s", err, p.tail())
	}
	return err
}

// tail returns the end of the log.
func (p *program) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

func get(url string) ([]byte, error) {
	client := http.Client{Timeout: time.Minute}
	response, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, response.Status, body)
	}
	return body, err
}

// counts are metrics of the process, each summed over its labels.
type counts map[string]float64

func (p *program) counts() (counts, error) {
	text, err := get("http://" + p.metrics + "/metrics")
	if err != nil {
		return nil, err
	}
	return sums(string(text))
}

// sums reads what a program serves on /metrics.
func sums(text string) (counts, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	all := counts{}
	for name, family := range families {
		for _, m := range family.Metric {
			all[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
		}
	}
	return all, nil
}

// The metrics that are read.
const (
	reconciles = "controller_runtime_reconcile_total"
	waiting    = "workqueue_depth"
	requests   = "rest_client_requests_total"
	goroutines = "go_goroutines"
	heap       = "go_memstats_heap_alloc_bytes"
)

// live returns the bytes of the heap that are in use after a garbage collection.
func (p *program) live() (float64, error) {
	for range 2 { // what finalizers and pools hold goes with the second one
		if _, err := get("http://" + p.pprof + "/debug/pprof/heap?gc=1"); err != nil {
			return 0, err
		}
	}
	c, err := p.counts()
	return c[heap], err
}

var counted = regexp.MustCompile(`(?m)^(VmRSS|VmHWM):\s+(\d+) kB$`)

// memory returns what the kernel counts, in megabytes: now, and at most so far.
func (p *program) memory() (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for _, line := range counted.FindAllStringSubmatch(string(status), -1) {
		kilobytes, _ := strconv.ParseFloat(line[2], 64)
		if megabytes := kilobytes * 1024 / 1e6; line[1] == "VmRSS" {
			now = megabytes
		} else {
			peak = megabytes
		}
	}
	return now, peak, nil
}

// ticks of the clock by which the kernel counts CPU time, in a second.
const ticks = 100

// cpu returns the CPU time of the process so far.
func (p *program) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces
	fields := strings.Fields(rest)
	var total int
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return time.Duration(total) * time.Second / ticks, nil
}

// still is how long nothing may have happened for a manager to be quiet.
const still = 3 * time.Second

// glance is how often that is looked at.
const glance = 500 * time.Millisecond

// quiet waits until no object is reconciled, and none waits for it. It returns since when.
func (p *program) quiet(ctx context.Context) (since time.Time, err error) {
	last, since := -1.0, time.Now()
	for {
		c, err := p.counts()
		if now := time.Now(); err == nil && (c[reconciles] != last || c[waiting] > 0) {
			last, since = c[reconciles], now
		} else if err == nil && last > 0 && now.Sub(since) > still {
			return since, nil
		}
		select {
		case <-ctx.Done():
			return since, fmt.Errorf("wait for the manager to be quiet: %w; reconciles %v, waiting %v, %w; the log:\n%s", ctx.Err(), c[reconciles], c[waiting], err, p.tail())
		case <-time.After(glance): // to be asked costs the manager CPU time, too
		}
	}
}
