// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	controlPlanePackage = "github.com/podwright/podwright/examples/tests/cluster/controlplane"
	machinePackage      = "github.com/podwright/podwright/examples/tests/cluster/machine"
	controlPlaneEnv     = "PODWRIGHT_CONTROLPLANE"
	kubernetesVersion   = "v1.37.1"
)

// controlPlane returns the path of the binary that holds the components, built if need be.
func controlPlane(ctx context.Context, path string, log *lockedWriter) (string, error) {
	if path == "" {
		path = os.Getenv(controlPlaneEnv)
	}
	if path != "" {
		path, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", fmt.Errorf("control plane binary: %w", err)
		}
		return path, nil
	}
	return Build(ctx, log.w)
}

// Build compiles the control plane binary into the user's cache directory, unless it is there and up to date, and returns its
// path. It writes progress to log, which may be nil. It needs the go command; with cold caches it takes some minutes and
// downloads what the module cache does not hold.
func Build(ctx context.Context, log io.Writer) (string, error) {
	version := func(name, value string) string { return " -X k8s.io/component-base/version." + name + "=" + value }
	number := strings.Split(strings.TrimPrefix(kubernetesVersion, "v"), ".")
	dir, err := build(ctx, log, target{
		what: "the control plane",
		arguments: []string{
			"-ldflags", "-s -w" + version("gitVersion", kubernetesVersion) +
				version("gitMajor", number[0]) + version("gitMinor", number[1]),
		},
		packages: controlPlanePackage,
	})
	return filepath.Join(dir, "controlplane"), err
}

// BuildRealNodes compiles what real nodes run besides the kubelet, as Build does the control plane, and returns the directory.
// With cold caches this takes a minute or two. The error is a MissingError if this machine can run none.
func BuildRealNodes(ctx context.Context, log io.Writer) (string, error) {
	if missing := RealNodesMissing(); len(missing) > 0 {
		return "", &MissingError{missing}
	}
	if _, err := build(ctx, log, target{what: "the first process of nodes", arguments: small, packages: machinePackage}); err != nil {
		return "", err
	}
	return build(ctx, log, target{
		what:      "containerd",
		folder:    "tests/cluster/containerd",
		arguments: append(slices.Clone(small), "-tags=no_btrfs,no_zfs,no_devmapper"),
		packages:  "tool",
	})
}

// small leaves out what debuggers want.
var small = []string{"-ldflags=-s -w"}

// target is something to build.
type target struct {
	// what it is, for humans.
	what string
	// folder of the module, below the module examples.
	folder string
	// arguments and packages of go build.
	arguments []string
	packages  string
}

// build compiles commands into the directory of this checkout, and returns the directory.
func build(ctx context.Context, log io.Writer, t target) (string, error) {
	module, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache directory for %s: %w", t.what, err)
	}
	// Each checkout has its own, so that two of them do not overwrite each other's in turn.
	key := sha256.Sum256([]byte(module))
	dir := filepath.Join(cache, "podwright", fmt.Sprintf("%x", key[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache directory for %s: %w", t.what, err)
	}
	p := newProgress(log, t.what)
	unlock, err := lock(ctx, filepath.Join(dir, "lock"), p)
	if err != nil {
		return "", err
	}
	defer unlock()
	return dir, compile(ctx, filepath.Join(module, t.folder), dir, t, p)
}

// compile runs go build, which compiles what is out of date. If nothing is, that takes half a second.
func compile(ctx context.Context, module, dir string, t target, p *progress) error {
	arguments := append([]string{"build", "-v", "-o", dir + string(filepath.Separator)}, t.arguments...)
	command := goCommand(ctx, module, append(arguments, t.packages)...)
	command.Stderr = p
	// Let go build clean up behind itself.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	if err := command.Run(); err != nil {
		return fmt.Errorf("build %s in %s: %w\n%s", t.what, module, err, p.complaints())
	}
	return nil
}

// goCommand runs in a module. The binaries need nothing of this machine.
func goCommand(ctx context.Context, module string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = module
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	return command
}

// moduleDir finds the source of the module examples. It looks beside the path that this file had when it was compiled. If
// nothing is there, it asks the go command in the working directory.
func moduleDir(ctx context.Context) (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		dir := filepath.Dir(filepath.Dir(filepath.Dir(file)))
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", controlPlanePackage).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("find the source of %s: run this inside the module examples, or set %s to a built binary: %w",
			controlPlanePackage, controlPlaneEnv, err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// lock waits until no other process builds into the same place. The lock goes with the process that holds it.
func lock(ctx context.Context, path string, p *progress) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		p.status("another process builds " + p.what + "; waiting for it")
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
