// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// match tells whether a pattern is of a name; a star stands for folders, too.
func match(pattern, text string) bool {
	flat := strings.NewReplacer("/", "!")
	ok, _ := path.Match(flat.Replace(pattern), flat.Replace(text))
	return ok
}

// data returns the places of what describes data that the program returns or takes. They are types that a pattern names,
// their fields, the types of those fields, and the constants of all of them. Methods are no data. Packages of folders named
// internal have none.
func (p *program) data(patterns []reason) map[token.Pos]bool {
	places := map[token.Pos]bool{}
	for _, pkg := range p.packages {
		if !p.isOwn(pkg.types) || strings.Contains(pkg.ImportPath+"/", "/internal/") {
			continue
		}
		for _, n := range pkg.types.Scope().Names() {
			t, ok := pkg.types.Scope().Lookup(n).(*types.TypeName)
			if ok && slices.ContainsFunc(patterns, func(r reason) bool { return match(r.pattern, p.short(pkg.path())+"."+n) }) {
				p.describe(t.Type(), places)
			}
		}
	}
	for _, pkg := range p.packages {
		for _, o := range slices.Collect(maps.Values(pkg.info.Defs)) {
			c, ok := o.(*types.Const)
			if !ok {
				continue
			}
			if named, ok := c.Type().(*types.Named); ok && places[named.Obj().Pos()] && named.Obj().Pkg() == c.Pkg() {
				places[c.Pos()] = true
			}
		}
	}
	return places
}

// describe adds a type and what it holds.
func (p *program) describe(t types.Type, places map[token.Pos]bool) {
	switch t := t.(type) {
	case *types.Alias:
		p.describe(t.Rhs(), places)
	case *types.Named:
		if o := t.Obj(); p.isOwn(o.Pkg()) && !places[o.Pos()] {
			places[o.Pos()] = true
			p.describe(t.Underlying(), places)
		}
	case *types.Pointer:
		p.describe(t.Elem(), places)
	case *types.Slice:
		p.describe(t.Elem(), places)
	case *types.Map:
		p.describe(t.Key(), places)
		p.describe(t.Elem(), places)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				places[f.Pos()] = true
				p.describe(f.Type(), places)
			}
		}
	}
}
