// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/types"
)

// contract is an interface, and the package that declares it.
type contract struct {
	pkg    string
	it     *types.Interface
	loose  bool // has type parameters, so that names alone are compared
	method []string
}

// implement notes the methods of types that an interface of another package asks for. It notes those of an interface that a
// type of another package has. The one calls what the other is. Within a package, a method goes by what is used of the
// interface.
func (u *uses) implement() {
	contracts := u.contracts()
	for _, note := range []func(*types.Package, contract, map[string]types.Object){u.across, u.within} {
		u.compareAll(contracts, note)
	}
}

func (u *uses) compareAll(contracts []contract, note func(*types.Package, contract, map[string]types.Object)) {
	for _, pkg := range u.packages {
		for _, o := range pkg.info.Defs {
			t, ok := o.(*types.TypeName)
			if !ok || t.IsAlias() || types.IsInterface(t.Type()) {
				continue
			}
			if _, parameter := t.Type().(*types.TypeParam); parameter {
				continue
			}
			u.compare(t, contracts, note)
		}
	}
}

// compare notes what a type and interfaces have in common.
func (u *uses) compare(t *types.TypeName, contracts []contract, note func(*types.Package, contract, map[string]types.Object)) {
	pointer := types.NewPointer(t.Type())
	has := map[string]types.Object{}
	for m := range types.NewMethodSet(pointer).Methods() {
		has[m.Obj().Name()] = m.Obj()
	}
	for _, c := range contracts {
		if c.fits(has, pointer) {
			note(t.Pkg(), c, has)
		}
	}
}

// across notes the methods of a type of one package and of an interface of another.
func (u *uses) across(pkg *types.Package, c contract, has map[string]types.Object) {
	for m := range c.it.Methods() {
		if mine := has[m.Name()]; u.isOwn(mine.Pkg()) && mine.Pkg().Path() != c.pkg {
			u.seen[mine.Pos()] = true
		}
		if u.isOwn(m.Pkg()) && m.Pkg().Path() != pkg.Path() {
			u.seen[m.Pos()] = true
		}
	}
}

// within notes the methods of a type that are used as those of an interface.
func (u *uses) within(_ *types.Package, c contract, has map[string]types.Object) {
	for m := range c.it.Methods() {
		if mine := has[m.Name()]; u.seen[m.Pos()] && u.isOwn(mine.Pkg()) {
			u.seen[mine.Pos()] = true
		}
	}
}

// fits tells whether a type with these methods has all that the interface asks for.
func (c contract) fits(has map[string]types.Object, pointer types.Type) bool {
	for _, name := range c.method {
		if has[name] == nil {
			return false
		}
	}
	return c.loose || types.Implements(pointer, c.it)
}

// contracts returns the interfaces with methods that packages declare, those of what they import, and those without a name.
func (u *uses) contracts() (found []contract) {
	seen := map[*types.Interface]bool{}
	add := func(pkg string, t types.Type, loose bool) {
		it, ok := t.Underlying().(*types.Interface)
		if !ok || seen[it] || it.NumMethods() == 0 {
			return
		}
		seen[it] = true
		c := contract{pkg: pkg, it: it, loose: loose || !it.IsMethodSet()}
		for m := range it.Methods() {
			c.method = append(c.method, m.Name())
		}
		found = append(found, c)
	}
	known := map[*types.Package]bool{}
	for _, pkg := range u.packages {
		known[pkg.types] = true
		for _, other := range pkg.types.Imports() {
			known[other] = true
		}
	}
	for pkg := range known {
		for _, n := range pkg.Scope().Names() {
			if t, ok := pkg.Scope().Lookup(n).(*types.TypeName); ok {
				named, _ := t.Type().(*types.Named)
				add(pkg.Path(), t.Type(), named != nil && named.TypeParams().Len() > 0)
			}
		}
	}
	for _, pkg := range u.packages {
		for e, t := range pkg.info.Types {
			if _, literal := e.(*ast.InterfaceType); literal {
				add(pkg.types.Path(), t.Type, false)
			}
		}
	}
	add("", types.Universe.Lookup("error").Type(), false)
	return found
}
