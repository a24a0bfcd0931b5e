// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// An outcome says what became of a mutant.
type outcome string

const (
	killed     outcome = "killed"
	survived   outcome = "SURVIVED"
	broken     outcome = "does not compile"
	equivalent outcome = "equivalent"
)

// A bench tests one package.
type bench struct {
	pkg     *pkg
	folder  string // temporary
	timeout time.Duration
}

// Test plants the mutants of the package that were drawn, and prints what became of each.
func (p *pkg) test(ctx context.Context, known map[string]string, wait time.Duration) (tally, error) {
	t := tally{pkg: p.name}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(folder)
	b := &bench{pkg: p, folder: folder, timeout: 10 * time.Minute}

	// Without a change first: tests that fail anyhow would kill each mutant.
	start := time.Now()
	switch result, err := b.outcome(ctx, nil, nil); {
	case err != nil:
		return t, err
	case result != survived:
		return t, fmt.Errorf("package %s without a change: %s", p.name, result)
	}
	b.timeout = wait + 2*time.Since(start)

	for i := 0; i < len(p.mutants) && t.planted() < p.drawn; i++ {
		m, result := p.mutants[i], equivalent
		if _, ok := known[m.key()]; !ok {
			source, err := os.ReadFile(filepath.Join(p.folder, m.file))
			if err != nil {
				return t, err
			}
			if result, err = b.outcome(ctx, &m, m.planted(source)); err != nil {
				return t, err
			}
		}
		fmt.Printf("%-10s %s\n", result, m)
		t.add(result, m)
	}
	return t, nil
}

// Outcome compiles the tests of the package with a file in place of another, and runs them. Nil means no change.
func (b *bench) outcome(ctx context.Context, m *mutant, source []byte) (outcome, error) {
	program := filepath.Join(b.folder, "tests")
	if err := os.Remove(program); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program} // without what debuggers read, it is linked in half the time
	if m != nil {
		overlay, err := b.overlay(m.file, source)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay="+overlay)
	}
	compile := exec.CommandContext(ctx, "go", append(args, ".")...)
	compile.Dir = b.pkg.folder
	if out, err := compile.CombinedOutput(); err != nil {
		if m == nil {
			os.Stderr.Write(out)
		}
		return broken, ctx.Err()
	}
	if _, err := os.Stat(program); os.IsNotExist(err) {
		return survived, nil // The package has no tests.
	}
	return b.run(ctx, program)
}

// Overlay writes what the flag -overlay takes.
func (b *bench) overlay(file string, source []byte) (string, error) {
	changed, overlay := filepath.Join(b.folder, file), filepath.Join(b.folder, "overlay.json")
	if err := os.WriteFile(changed, source, 0o600); err != nil {
		return "", err
	}
	encoded, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(b.pkg.folder, file): changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, encoded, 0o600)
}

// How much memory tests may take, in KiB: a loop that never ends may also fill the machine.
const memory = 8 << 20

func (b *bench) run(ctx context.Context, program string) (outcome, error) {
	bounded, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	command := exec.CommandContext(bounded, "sh", "-c", `ulimit -v "$0" 2>/dev/null; exec "$@"`, strconv.Itoa(memory),
		program, "-test.failfast", "-test.timeout=0")
	command.Dir = b.pkg.folder
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return survived, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &failed) || bounded.Err() != nil:
		return killed, nil
	default:
		return "", err
	}
}
