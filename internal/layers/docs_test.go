// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// isPublic tells whether a file belongs to a package that users import, and is written by hand.
func isPublic(name string) bool {
	for _, without := range []string{"examples", "internal", "applyconfigurations"} {
		if strings.Contains("/"+name, "/"+without+"/") {
			return false
		}
	}
	return !strings.HasPrefix(path.Base(name), "zz_generated")
}

// documents collects what a file exports without a word about it.
type documents struct {
	file    *token.FileSet
	missing []string
}

// undocumented lists the exported identifiers of a file that no comment describes. A comment stands above an identifier or
// behind it. One above the first of a group, which ends with an empty line, is also about the others that it names.
func undocumented(name string, source []byte) ([]string, error) {
	d := &documents{file: token.NewFileSet()}
	file, err := parser.ParseFile(d.file, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	for _, declared := range file.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(declared); receiver == "" || ast.IsExported(receiver) {
				d.want(declared.Name, "", declared.Doc)
			}
		case *ast.GenDecl:
			d.declaration(declared)
		}
	}
	return d.missing, nil
}

// receiverOf is the name of the type that a function is a method of; empty for none.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name
}

// want notes an exported identifier that has none of the comments.
func (d *documents) want(name *ast.Ident, of string, comments ...*ast.CommentGroup) {
	described := slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" })
	if name.IsExported() && !described {
		d.missing = append(d.missing, fmt.Sprintf("%s: %s%s", d.file.Position(name.Pos()), of, name.Name))
	}
}

func (d *documents) declaration(g *ast.GenDecl) {
	values := group{of: d}
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			values.member(spec, spec.Names, "", spec.Doc, spec.Comment, g.Doc)
		case *ast.TypeSpec:
			d.want(spec.Name, "", spec.Doc, spec.Comment, g.Doc)
			if spec.Name.IsExported() {
				d.members(spec, g.Doc)
			}
		}
	}
}

// members looks at the fields of a struct, and the methods of an interface.
func (d *documents) members(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	list := &ast.FieldList{}
	if of, ok := spec.Type.(*ast.StructType); ok {
		list = of.Fields
	} else if of, ok := spec.Type.(*ast.InterfaceType); ok {
		list = of.Methods
	}
	group := group{of: d}
	if d.line(spec.Type.Pos()) == d.line(spec.Type.End()) { // a struct of one line is described by its comment
		group.doc, group.end = doc.Text(), d.line(spec.Type.Pos())
	}
	for _, f := range list.List {
		group.member(f, f.Names, spec.Name.Name+".", f.Doc, f.Comment)
	}
}

func (d *documents) line(at token.Pos) int { return d.file.Position(at).Line }

// group is what stands together, without an empty line or another comment between.
type group struct {
	of  *documents
	doc string // the comment of the first
	end int    // the line of the last
}

func (g *group) member(n ast.Node, names []*ast.Ident, of string, doc *ast.CommentGroup, others ...*ast.CommentGroup) {
	if doc != nil || g.of.line(n.Pos()) > g.end+1 {
		g.doc = doc.Text()
	}
	g.end = g.of.line(n.End())
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name.Name + `\b`).MatchString(g.doc) {
			g.of.want(name, of, append(others, doc)...)
		}
	}
}

// TestAllIsDocumented wants a comment for all that users may call, set and read.
func TestAllIsDocumented(t *testing.T) {
	read, files := 0, goFiles(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !isPublic(name) || strings.HasSuffix(name, "_test.go") {
			continue
		}
		read++
		missing, err := undocumented(name, files[name])
		if err != nil {
			t.Error(err)
		}
		for _, m := range missing {
			t.Errorf("%s has no comment: say what it is, in which unit, and what its zero value means", m)
		}
	}
	if read < 100 {
		t.Errorf("%d files were read, want those of the library", read)
	}
}

// TestAllHaveAnExample wants a runnable Example of each package that users import: what one does with it first.
func TestAllHaveAnExample(t *testing.T) {
	folders, shown := map[string]bool{}, map[string]bool{}
	example := regexp.MustCompile(`(?m)^func Example\w*\(\) {`)
	for name, source := range goFiles(t) {
		if isPublic(name) && !strings.HasSuffix(name, "_test.go") {
			folders[path.Dir(name)] = true
		}
		if strings.HasSuffix(name, "_test.go") && example.Match(source) {
			shown[path.Dir(name)] = true
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if !shown[folder] {
			t.Errorf("%s has no Example: show in an example_test.go what a user of the package does first", folder)
		}
	}
}
