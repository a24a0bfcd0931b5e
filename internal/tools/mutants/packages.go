// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A pkg is a package with its mutants.
type pkg struct {
	name    string // relative to the module
	clause  string // the name in its files
	folder  string
	also    []string // folders of other packages whose tests are about this one
	mutants []mutant // in random order once drawn
	drawn   int      // how many of the first are in the sample
}

// What "go list" says of a package.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	Module                struct{ Path, Dir string }
}

// Load returns the packages that have mutants, sorted by name.
func load(ctx context.Context, o options) ([]*pkg, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,Name,GoFiles,Module"}, o.packages...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*pkg
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := decoder.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		p, err := l.mutated(o)
		if err != nil {
			return nil, err
		}
		if len(p.mutants) > 0 && !o.skip.MatchString(p.name) {
			packages = append(packages, p)
		}
	}
	slices.SortFunc(packages, func(a, b *pkg) int { return cmp.Compare(a.name, b.name) })
	return packages, nil
}

func (l listed) mutated(o options) (*pkg, error) {
	p := &pkg{name: "." + strings.TrimPrefix(l.ImportPath, l.Module.Path), clause: l.Name, folder: l.Dir}
	p.name = path.Clean(p.name)
	for _, pair := range o.also {
		if name, other, _ := strings.Cut(pair, "="); name == p.name {
			p.also = append(p.also, filepath.Join(l.Module.Dir, other))
		}
	}
	for _, name := range l.GoFiles {
		if !matches(name, o.files) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		found, err := find(p.name, name, source)
		if err != nil {
			return nil, err
		}
		p.mutants = append(p.mutants, found...)
	}
	return p, nil
}

func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok && err == nil
	})
}

// Draw chooses count mutants of all packages, each with the same probability; 0 means all. Those that a package has beyond stand in
// for its mutants that do not compile.
func draw(packages []*pkg, count int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	var owners []*pkg
	for _, p := range packages {
		random.Shuffle(len(p.mutants), func(i, j int) { p.mutants[i], p.mutants[j] = p.mutants[j], p.mutants[i] })
		for range p.mutants {
			owners = append(owners, p)
		}
	}
	random.Shuffle(len(owners), func(i, j int) { owners[i], owners[j] = owners[j], owners[i] })
	if count == 0 || count > len(owners) {
		count = len(owners)
	}
	for _, p := range owners[:count] {
		p.drawn++
	}
}
