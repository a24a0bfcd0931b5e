// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// equipmentOfHistories is the import of a test file that plays histories.
const equipmentOfHistories = module + "/internal/testing/simulation"

// setups are the functions that play or judge and may use the product, by their names, with the reason. They set up more of it
// than the controller, or give a judge what it is to know.
var setups = map[string]string{
	"createInjected": "the webhook is under test, too",
	"webhookOf":      "the webhook is under test, too",
	"judgedAs":       "defaults and hashes, for which sidecar/injection has golden data",
	"judgesSidecars": "defaults and hashes, for which sidecar/injection has golden data",
}

// plays are the parameters and results of a function that has users of a history act, makes what they edit, or judges.
var plays = map[string]bool{"*simulation.User": true, "*rand.Rand": true, "*invariants.State": true, "*invariants.Write": true, "*invariants.Change": true, "simulation.Judge": true}

// histories are the test files of a package, and what they use.
type histories struct {
	fset    *token.FileSet
	info    *types.Info
	own     map[types.Object]ast.Node // what the test files declare
	names   map[ast.Node]string
	params  map[types.Object]ast.Expr // the types of parameters
	visited map[ast.Node]bool
	found   map[string]map[string]bool // by the name of the function
}

// sharedByPlayers is what the functions that play or judge in the histories of a package use of the product, by the name of the
// function. Those count, too, that they call and that the test files declare. The names of files are those of goFiles.
func sharedByPlayers(sources map[string][]byte) (map[string]map[string]bool, error) {
	h := &histories{fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
		own: map[types.Object]ast.Node{}, names: map[ast.Node]string{}, params: map[types.Object]ast.Expr{}, visited: map[ast.Node]bool{}, found: map[string]map[string]bool{}}
	packages := map[string][]*ast.File{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(h.fset, name, sources[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		packages[file.Name.Name] = append(packages[file.Name.Name], file)
	}
	for name, files := range packages {
		h.check(name, files)
	}
	return h.found, nil
}

// noImports has all imports fail, so that names of other packages are known by the path of their import only.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("not imported")
}

// check looks at the files of one package clause.
func (h *histories) check(name string, files []*ast.File) {
	config := &types.Config{Importer: noImports{}, Error: func(error) {}} // without imports there are many
	_, _ = config.Check(name, h.fset, files, h.info)
	for _, file := range files {
		if !h.isTest(file.Pos()) {
			continue
		}
		for _, d := range file.Decls {
			h.declare(d)
		}
		ast.Inspect(file, h.note)
	}
	for _, file := range files {
		plays := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(equipmentOfHistories) })
		if !plays || !h.isTest(file.Pos()) {
			continue
		}
		for _, d := range file.Decls {
			h.roots(d)
		}
	}
}

func (h *histories) isTest(pos token.Pos) bool {
	return strings.HasSuffix(h.fset.Position(pos).Filename, "_test.go")
}

// declare takes note of what a declaration of a test file declares.
func (h *histories) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		h.own[h.info.Defs[d.Name]], h.names[d] = d, d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if spec, is := spec.(*ast.ValueSpec); is {
				for _, name := range spec.Names {
					h.own[h.info.Defs[name]], h.names[spec] = spec, name.Name
				}
			}
		}
	}
}

// note takes note of the parameters of a function.
func (h *histories) note(n ast.Node) bool {
	if f, is := n.(*ast.FuncType); is {
		for _, field := range f.Params.List {
			for _, name := range field.Names {
				h.params[h.info.Defs[name]] = field.Type
			}
		}
	}
	return true
}

// roots visits the functions of a declaration that play or judge.
func (h *histories) roots(d ast.Decl) {
	name := "a variable"
	if f, is := d.(*ast.FuncDecl); is {
		name = f.Name.Name
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if playsOrJudges(n.Type) {
				h.visit(n, name)
			}
		case *ast.FuncLit:
			if playsOrJudges(n.Type) {
				h.visit(n, name)
			}
		}
		return true
	})
}

// playsOrJudges tells whether a function is one of those that may share nothing.
func playsOrJudges(f *ast.FuncType) bool {
	for _, fields := range []*ast.FieldList{f.Params, f.Results} {
		if fields != nil && slices.ContainsFunc(fields.List, func(f *ast.Field) bool { return plays[types.ExprString(f.Type)] }) {
			return true
		}
	}
	return false
}

// visit looks at what a function, a variable or a type of a parameter uses, and goes on with what its test files declare.
func (h *histories) visit(n ast.Node, name string) {
	if h.visited[n] {
		return
	}
	h.visited[n] = true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, is := n.X.(*ast.Ident); is {
				if of, is := h.info.Uses[x].(*types.PkgName); is && isProduct(of.Imported().Path()) {
					h.add(name, path.Base(of.Imported().Path())+"."+n.Sel.Name)
				}
			}
		case *ast.Ident:
			h.use(n, name)
		}
		return true
	})
}

// use looks at a name of the package, or of a parameter, which may be that of a function around.
func (h *histories) use(id *ast.Ident, by string) {
	object := h.info.Uses[id]
	if object == nil || !object.Pos().IsValid() {
		return
	}
	if v, is := object.(*types.Var); is && v.IsField() {
		return // its type tells
	}
	if _, is := object.(*types.PkgName); is {
		return
	}
	if at := h.params[object]; at != nil {
		h.visit(at, by)
		return
	}
	if at := h.own[object]; at != nil {
		h.visit(at, h.names[at])
		return
	}
	if !h.isTest(object.Pos()) {
		h.add(by, object.Name())
	}
}

func (h *histories) add(by, what string) {
	if h.found[by] == nil {
		h.found[by] = map[string]bool{}
	}
	h.found[by][what] = true
}

// isProduct tells whether players may not import a package.
func isProduct(imported string) bool {
	folder, own := strings.CutPrefix(imported, module+"/")
	_, judge := judges[folder]
	return own && !judge && !versionFolder.MatchString(folder) && !clientFolder.MatchString(folder)
}

// TestPlayersShareNothing holds that functions of histories use nothing of the product if they play the world or judge, in whatever
// file they stand. They use neither imports of the product nor what the package under test declares.
func TestPlayersShareNothing(t *testing.T) {
	folders := map[string]map[string][]byte{}
	for name, source := range goFiles(t) {
		folder := path.Dir(name)
		if folders[folder] == nil {
			folders[folder] = map[string][]byte{}
		}
		folders[folder][name] = source
	}
	needed := map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		found, err := sharedByPlayers(folders[folder])
		if err != nil {
			t.Error(err)
		}
		for _, by := range slices.Sorted(maps.Keys(found)) {
			if setups[by] != "" {
				needed[by] = true
				continue
			}
			t.Errorf("%s: %s plays or judges, and uses %v of the product", folder, by, slices.Sorted(maps.Keys(found[by])))
		}
	}
	for name := range setups {
		if !needed[name] {
			t.Errorf("%s uses nothing of the product: take it off the list", name)
		}
	}
}
