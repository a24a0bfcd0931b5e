// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"
)

// module is the path of this module, and root its folder.
const (
	module = "github.com/podwright/podwright"
	root   = "../.."
)

// pkg is what "go list -json" says of a package. Tests are left out.
type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
	Module     *struct{ Path string }
}

// modulePath is empty for the standard library.
func (p *pkg) modulePath() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.Path
}

// graph holds packages by import path: those of this module and all that they need.
type graph map[string]*pkg

// readGraph returns the graph of this module.
func readGraph(t *testing.T) graph {
	t.Helper()
	g, err := listGraph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// listGraph asks the go command, once.
var listGraph = sync.OnceValues(func() (graph, error) {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard,Module", "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", command, err, &stderr)
	}
	g := graph{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, err
		}
		g[p.ImportPath] = p
	}
})

// needs returns the modules of all packages that the packages of some modules
// need, those modules included.
func (g graph) needs(modules map[string]bool) map[string]bool {
	seen, found := map[string]bool{}, map[string]bool{}
	for path, p := range g {
		if modules[p.modulePath()] {
			g.visit(path, seen, func(*pkg) bool { return false })
		}
	}
	for path := range seen {
		if m := g[path].modulePath(); m != "" {
			found[m] = true
		}
	}
	return found
}

// visit notes a package and all that it needs, but for what is left out.
func (g graph) visit(path string, seen map[string]bool, leaveOut func(*pkg) bool) {
	p := g[path]
	if p == nil || seen[path] || leaveOut(p) {
		return
	}
	seen[path] = true
	for _, next := range p.Imports {
		g.visit(next, seen, leaveOut)
	}
}

// weight counts the packages beyond the standard library that a package needs,
// itself among them, as "go list -deps" lists them.
func (g graph) weight(path string) int {
	seen := map[string]bool{}
	g.visit(path, seen, func(p *pkg) bool { return p.Standard })
	return len(seen)
}
