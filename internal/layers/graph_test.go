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
	var visit func(string)
	visit = func(path string) {
		p := g[path]
		if p == nil || seen[path] {
			return
		}
		seen[path] = true
		if m := p.modulePath(); m != "" {
			found[m] = true
		}
		for _, next := range p.Imports {
			visit(next)
		}
	}
	for path, p := range g {
		if modules[p.modulePath()] {
			visit(path)
		}
	}
	return found
}

// weight counts the packages beyond the standard library that a package needs,
// itself among them, as "go list -deps" lists them.
func (g graph) weight(path string) int {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(path string) {
		p := g[path]
		if p == nil || p.Standard || seen[path] {
			return
		}
		seen[path] = true
		for _, next := range p.Imports {
			visit(next)
		}
	}
	visit(path)
	return len(seen)
}
