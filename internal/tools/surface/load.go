// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/gcexportdata"
)

// listed is a package as "go list" tells of it. A package with tests is listed twice, and what is compiled for the tests of another
// once for each.
type listed struct {
	ImportPath, ForTest, Name, Dir, Export string
	GoFiles, Imports                       []string
	ImportMap                              map[string]string
	Module                                 *struct {
		Path      string
		Main      bool
		GoVersion string
	}
}

// path returns the path by which the source imports the package.
func (l listed) path() string {
	path, _, _ := strings.Cut(l.ImportPath, " ")
	return path
}

// checked is a package whose types are known.
type checked struct {
	listed
	types *types.Package
	info  *types.Info
	files []*ast.File
}

// program is what was loaded.
type program struct {
	module   string
	files    *token.FileSet
	packages []*checked // those of modules that are worked on, with their tests
	parsed   map[string]*ast.File
	compiled map[string]*types.Package // those of other modules
}

// load reads packages with their tests. Those of modules that are worked on are read from source, each function once. Of others, the
// types come from what the compiler has left of them.
func load(folder, module string, patterns []string) (*program, error) {
	p := &program{module: module, files: token.NewFileSet(), parsed: map[string]*ast.File{}, compiled: map[string]*types.Package{"unsafe": types.Unsafe}}
	all, err := list(folder, append([]string{"-deps", "-test"}, patterns...))
	if err != nil {
		return nil, err
	}
	own, tested, others := map[string]*checked{}, map[string]bool{}, map[string]bool{}
	for _, l := range all {
		if l.Module != nil && l.Module.Main && !strings.HasSuffix(l.ImportPath, ".test") {
			own[l.ImportPath] = &checked{listed: l}
			p.packages = append(p.packages, own[l.ImportPath])
			tested[l.path()] = tested[l.path()] || l.ForTest == l.path()
		}
	}
	for _, pkg := range own {
		for _, path := range pkg.Imports {
			if own[path] == nil && path != "unsafe" && path != "C" {
				others[path] = true
			}
		}
	}
	if err := p.readCompiled(folder, slices.Sorted(maps.Keys(others))); err != nil {
		return nil, err
	}
	for _, pkg := range p.packages { // each after what it imports
		whole := pkg.ForTest == "" && !tested[pkg.path()] || pkg.ForTest == strings.TrimSuffix(pkg.path(), "_test")
		if err := p.check(pkg, own, whole); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// list runs "go list".
func list(folder string, arguments []string) (all []listed, err error) {
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,ForTest,Name,Dir,Export,GoFiles,Imports,ImportMap,Module"}, arguments...)...)
	var stderr bytes.Buffer
	command.Dir, command.Stderr = folder, &stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var l listed
		switch err := decoder.Decode(&l); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, l)
	}
}

// readCompiled reads the types of packages from what the compiler has left, which it makes if it is not there.
func (p *program) readCompiled(folder string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	all, err := list(folder, append([]string{"-export"}, paths...))
	if err != nil {
		return err
	}
	for _, l := range all {
		if err := p.readExport(l); err != nil {
			return fmt.Errorf("%s: %w", l.ImportPath, err)
		}
	}
	return nil
}

func (p *program) readExport(l listed) error {
	file, err := os.Open(l.Export)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := gcexportdata.NewReader(file)
	if err != nil {
		return err
	}
	_, err = gcexportdata.Read(reader, p.files, p.compiled, l.ImportPath)
	return err
}

// check finds the types of a package, and what its source uses; of one that another covers only what it declares.
func (p *program) check(pkg *checked, own map[string]*checked, whole bool) (err error) {
	for _, name := range pkg.GoFiles {
		file, err := p.parse(filepath.Join(pkg.Dir, name))
		if err != nil {
			return err
		}
		pkg.files = append(pkg.files, file)
	}
	pkg.info = &types.Info{}
	if whole {
		pkg.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		}
	}
	config := types.Config{IgnoreFuncBodies: !whole, GoVersion: "go" + pkg.Module.GoVersion, Importer: importer(func(path string) (*types.Package, error) {
		if mapped := pkg.ImportMap[path]; mapped != "" {
			path = mapped
		}
		if other := own[path]; other != nil {
			return other.types, nil
		}
		if other := p.compiled[path]; other != nil {
			return other, nil
		}
		return nil, fmt.Errorf("%s was not listed", path)
	})}
	pkg.types, err = config.Check(pkg.path(), p.files, pkg.files, pkg.info)
	return err
}

// parse reads a file, once for all packages that it is compiled into.
func (p *program) parse(name string) (*ast.File, error) {
	if file := p.parsed[name]; file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(p.files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	p.parsed[name] = file
	return file, err
}

// importer returns packages by the paths that a source file imports.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
