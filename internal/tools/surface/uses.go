// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// unused returns the exported names of the module that no other package uses, and how many of data are left out.
func (p *program) unused(data []reason) (names []name, left int) {
	u := uses{program: p, seen: map[token.Pos]bool{}, walked: map[types.Type]bool{}}
	for _, pkg := range p.packages {
		u.read(pkg.types, pkg.info)
	}
	u.implement()
	declared, blocks := p.declared(), map[token.Pos]bool{}
	for _, n := range declared {
		if u.seen[n.pos] && n.of.IsValid() {
			blocks[n.of] = true
		}
	}
	places := p.data(data)
	for _, n := range declared {
		switch {
		case u.seen[n.pos] || blocks[n.of]:
		case places[n.pos]:
			left++
		default:
			names = append(names, n)
		}
	}
	return names, left
}

// uses is what packages use of others.
type uses struct {
	*program
	seen   map[token.Pos]bool
	walked map[types.Type]bool
}

// read notes what the source of a package uses.
func (u *uses) read(from *types.Package, info *types.Info) {
	for _, o := range info.Uses {
		u.use(from, o)
	}
	for _, s := range info.Selections {
		u.embedded(from, s)
	}
	for e, t := range info.Types {
		if literal, ok := e.(*ast.CompositeLit); ok && len(literal.Elts) > 0 {
			if _, keyed := literal.Elts[0].(*ast.KeyValueExpr); !keyed {
				u.all(from, t.Type)
			}
		}
	}
}

// use notes that a package uses an object, and with it the types that it is made of: who calls New() uses what it returns.
func (u *uses) use(from *types.Package, o types.Object) {
	if o == nil || !u.isOwn(o.Pkg()) || o.Pkg().Path() == from.Path() || !o.Exported() {
		return
	}
	u.seen[o.Pos()] = true
	switch o.(type) {
	case *types.Func, *types.Var, *types.Const, *types.TypeName:
		u.walk(o.Type())
	}
}

// walk notes the types that a type is made of, but for the fields and methods of those that have a name.
func (u *uses) walk(t types.Type) {
	if u.walked[t] {
		return
	}
	u.walked[t] = true
	switch t := t.(type) {
	case *types.Alias:
		u.seen[t.Obj().Pos()] = true
		u.walk(t.Rhs())
	case *types.Named:
		if u.isOwn(t.Obj().Pkg()) {
			u.seen[t.Obj().Pos()] = true
		}
		for argument := range t.TypeArgs().Types() {
			u.walk(argument)
		}
		switch under := t.Underlying().(type) {
		case *types.Struct, *types.Interface:
		default:
			u.walk(under)
		}
	case *types.Pointer:
		u.walk(t.Elem())
	case *types.Slice:
		u.walk(t.Elem())
	case *types.Array:
		u.walk(t.Elem())
	case *types.Chan:
		u.walk(t.Elem())
	case *types.Map:
		u.walk(t.Key())
		u.walk(t.Elem())
	case *types.Signature:
		if t.Recv() != nil {
			u.walk(t.Recv().Type())
		}
		u.walk(t.Params())
		u.walk(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			u.walk(v.Type())
		}
	}
}

// embedded notes the fields that a selection goes through without naming them.
func (u *uses) embedded(from *types.Package, s *types.Selection) {
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		fields, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		u.use(from, fields.Field(i))
		t = fields.Field(i).Type()
	}
}

// all notes the fields of a struct that is written without their names.
func (u *uses) all(from *types.Package, t types.Type) {
	if fields, ok := t.Underlying().(*types.Struct); ok {
		for f := range fields.Fields() {
			u.use(from, f)
		}
	}
}
