// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// An outcome says what became of a mutant.
type outcome string

const (
	killed     outcome = "killed"
	late       outcome = "timed out" // killed, as it seems: perhaps the machine was busy
	survived   outcome = "SURVIVED"
	broken     outcome = "does not compile"
	equivalent outcome = "equivalent"
)

// A bench tests one package.
type bench struct {
	pkg     *pkg
	folder  string // temporary
	timeout time.Duration
	without string         // tests that are not run
	alive   map[int]mutant // those of the program "switched", by their numbers
}

// Test plants the mutants of the package that were drawn, and prints what became of each.
func (p *pkg) test(ctx context.Context, known map[string]string, o options) (tally, error) {
	t := tally{pkg: p.name}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(folder)
	b, err := p.prepare(ctx, folder, known, o)
	if err != nil {
		return t, err
	}

	for i := 0; i < len(p.mutants) && t.planted() < p.drawn; i++ {
		m := p.mutants[i]
		result, err := b.outcome(ctx, i+1, m, known)
		if err != nil {
			return t, err
		}
		fmt.Printf("%-10s %s\n", result, m)
		t.add(result, m)
	}
	return t, nil
}

// Prepare compiles the program that can be each of the mutants, and runs it as none of them: tests that fail anyhow would kill each.
func (p *pkg) prepare(ctx context.Context, folder string, known map[string]string, o options) (*bench, error) {
	b := &bench{pkg: p, folder: folder, timeout: 10 * time.Minute, without: o.without, alive: map[int]mutant{}}
	for i, m := range p.mutants[:p.drawn] {
		if _, ok := known[m.key()]; !ok {
			b.alive[i+1] = m
		}
	}
	if err := b.compileSwitched(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	switch result, err := b.run(ctx, "switched", 0); {
	case err != nil:
		return nil, err
	case result != survived:
		return nil, fmt.Errorf("package %s without a change: %s", p.name, result)
	}
	b.timeout = o.wait + 2*time.Since(start)
	return b, nil
}

func (b *bench) outcome(ctx context.Context, n int, m mutant, known map[string]string) (outcome, error) {
	if _, ok := known[m.key()]; ok {
		return equivalent, nil
	}
	if _, ok := b.alive[n]; ok {
		return b.run(ctx, "switched", n)
	}
	source, err := os.ReadFile(filepath.Join(b.pkg.folder, m.file))
	if err != nil {
		return "", err
	}
	message, err := b.compile(ctx, "alone", map[string][]byte{m.file: m.planted(source)})
	switch {
	case err != nil:
		return "", err
	case message != "":
		return broken, nil
	}
	return b.run(ctx, "alone", 0)
}

// CompileSwitched compiles the program that can be each of the mutants. A mutant whose line does not compile is left out of that
// program, and compiled alone. Only the compiler knows the type of some constants.
func (b *bench) compileSwitched(ctx context.Context) error {
	for {
		files := map[string][]byte{helperFile: []byte(helpersOf(b.pkg.clause))}
		byFile := map[string]map[int]mutant{}
		for n, m := range b.alive {
			if byFile[m.file] == nil {
				byFile[m.file] = map[int]mutant{}
			}
			byFile[m.file][n] = m
		}
		for name, mutants := range byFile {
			source, err := os.ReadFile(filepath.Join(b.pkg.folder, name))
			if err != nil {
				return err
			}
			files[name] = switched(source, mutants)
		}
		message, err := b.compile(ctx, "switched", files)
		if err != nil || message == "" {
			return err
		}
		if !b.leaveOut(message) {
			if len(b.alive) == 0 {
				return fmt.Errorf("package %s without a change does not compile:\n%s", b.pkg.name, message)
			}
			clear(b.alive) // what is wrong is not in a line of a mutant
		}
	}
}

const helperFile = "zz_mutants.go"

var compilerError = regexp.MustCompile(`(?m)([\w.-]+\.go):(\d+):`)

// LeaveOut leaves out the mutants of the lines of which the compiler tells, and tells whether there are any.
func (b *bench) leaveOut(message string) bool {
	wrong := map[string]bool{}
	for _, found := range compilerError.FindAllStringSubmatch(message, -1) {
		wrong[found[1]+":"+found[2]] = true
	}
	before := len(b.alive)
	maps.DeleteFunc(b.alive, func(_ int, m mutant) bool {
		for line := m.line; line <= m.last; line++ {
			if wrong[m.file+":"+strconv.Itoa(line)] {
				return true
			}
		}
		return false
	})
	return len(b.alive) < before
}

// compile compiles the tests of the package with these files in place of its own, or beside them. If that fails, the message is
// that of the compiler.
func (b *bench) compile(ctx context.Context, program string, files map[string][]byte) (message string, err error) {
	replace := map[string]string{}
	for name, source := range files {
		changed := filepath.Join(b.folder, name)
		replace[filepath.Join(b.pkg.folder, name)] = changed
		if err := os.WriteFile(changed, source, 0o600); err != nil {
			return "", err
		}
	}
	encoded, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(b.folder, "overlay.json")
	if err := os.WriteFile(overlay, encoded, 0o600); err != nil {
		return "", err
	}
	for i, folder := range append([]string{b.pkg.folder}, b.pkg.also...) {
		// All errors at once. Without what debuggers read, it is linked in half the time.
		command := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-ldflags=-s -w",
			"-overlay="+overlay, "-o", b.program(program, i), ".")
		command.Dir = folder
		if out, err := command.CombinedOutput(); ctx.Err() != nil {
			return "", ctx.Err()
		} else if err != nil {
			return string(out) + err.Error(), nil
		}
	}
	return "", nil
}

// Program is the file of a program: that of the tests of the package itself, or those of another.
func (b *bench) program(name string, of int) string {
	return filepath.Join(b.folder, fmt.Sprintf("%s-%d", name, of))
}

// How much memory tests may take, in KiB: a loop that never ends may also fill the machine.
const memory = 8 << 20

// Run runs the tests of a program as one of its mutants.
func (b *bench) run(ctx context.Context, program string, alive int) (outcome, error) {
	for i, folder := range append([]string{b.pkg.folder}, b.pkg.also...) {
		if result, err := b.runIn(ctx, folder, b.program(program, i), alive); result != survived || err != nil {
			return result, err
		}
	}
	return survived, nil
}

func (b *bench) runIn(ctx context.Context, folder, program string, alive int) (outcome, error) {
	if _, err := os.Stat(program); os.IsNotExist(err) {
		return survived, nil // the package has no tests
	}
	bounded, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	command := exec.CommandContext(bounded, "sh", "-c", `ulimit -v "$0" 2>/dev/null; exec "$@"`, strconv.Itoa(memory),
		program, "-test.failfast", "-test.timeout=0", "-test.skip="+b.without)
	command.Dir = folder
	command.Env = append(os.Environ(), variable+"="+strconv.Itoa(alive), "RAPID_NOFAILFILE=1") // nothing is written into the tree
	command.WaitDelay = 10 * time.Second
	err := command.Run()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return survived, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case bounded.Err() != nil:
		return late, nil
	case errors.As(err, &failed):
		return killed, nil
	default:
		return "", err
	}
}
