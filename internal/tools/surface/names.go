// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// isOwn tells whether a package is one of the module.
func (p *program) isOwn(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == p.module || strings.HasPrefix(pkg.Path(), p.module+"/"))
}

// short returns the path of a package within the module.
func (p *program) short(pkgPath string) string {
	if pkgPath == p.module {
		return path.Base(p.module)
	}
	return strings.TrimPrefix(pkgPath, p.module+"/")
}

// name is an exported name.
type name struct {
	text string // without the path of the module, such as lifecycle.Plan.State
	at   token.Position
	pos  token.Pos
	of   token.Pos // the block of an enumerated constant
}

// declared returns the exported names of the module that count, in the order of packages and files.
func (p *program) declared() (names []name) {
	for _, pkg := range p.packages {
		if pkg.ForTest != "" || pkg.Module.Path != p.module || pkg.Name == "main" || isAPI(pkg.ImportPath) {
			continue
		}
		short := p.short(pkg.ImportPath)
		for _, file := range pkg.files {
			if ast.IsGenerated(file) {
				continue
			}
			for _, i := range exported(file) {
				names = append(names, name{fmt.Sprintf("%s.%s%s", short, i.owner, i.Name), p.files.Position(i.Pos()), i.Pos(), i.of})
			}
		}
	}
	return names
}

// isAPI tells whether a package holds API types or typed clients.
func isAPI(pkgPath string) bool {
	for part := range strings.SplitSeq(pkgPath, "/") {
		switch part {
		case "v1alpha1", "v1beta1", "client":
			return true
		}
	}
	return false
}

// ident is an exported name as the source declares it, with the type that it belongs to and a dot.
type ident struct {
	*ast.Ident
	owner string
	of    token.Pos // see enumerated
}

// exported returns the exported names that a file declares, with the fields and methods of exported types. Fields with a tag are left
// out: encoders read them.
func exported(file *ast.File) (found []ident) {
	add := func(owner string, names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				found = append(found, ident{n, owner, token.NoPos})
			}
		}
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add("", d.Name)
			} else if receiver := nameOf(d.Recv.List[0].Type); receiver.IsExported() {
				add(receiver.Name+".", d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					before := len(found)
					add("", s.Names...)
					for i := range found[before:] {
						found[before+i].of = enumerated(d, s)
					}
				case *ast.TypeSpec:
					add("", s.Name)
					if s.Name.IsExported() {
						for _, f := range fieldsOf(s.Type) {
							if f.Tag == nil {
								add(s.Name.Name+".", f.Names...)
							}
						}
					}
				}
			}
		}
	}
	return found
}

// enumerated returns the place of a block of constants that have a type. They are the values of that type: who needs one has all.
func enumerated(block *ast.GenDecl, s *ast.ValueSpec) token.Pos {
	if block.Tok == token.CONST && block.Lparen.IsValid() && (s.Type != nil || len(s.Values) == 0) {
		return block.Lparen
	}
	return token.NoPos
}

// fieldsOf returns the fields of a struct, or the methods of an interface. Embedded ones have no names of their own.
func fieldsOf(e ast.Expr) []*ast.Field {
	switch t := e.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

// nameOf returns the name of a receiver's type.
func nameOf(e ast.Expr) *ast.Ident {
	switch t := e.(type) {
	case *ast.StarExpr:
		return nameOf(t.X)
	case *ast.IndexExpr:
		return nameOf(t.X)
	case *ast.IndexListExpr:
		return nameOf(t.X)
	case *ast.ParenExpr:
		return nameOf(t.X)
	case *ast.Ident:
		return t
	}
	return ast.NewIdent("_")
}
