// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// api is what a package exports, as it stands in the source. Types are written as there, and parameters without their names.
type api struct {
	funcs   map[string]string            // by name
	methods map[string]map[string]string // by type, then by name
	types   map[string]string            // what stands behind the name; empty for a struct
	fields  map[string][]field           // of structs
}

// field is a field of a struct; an embedded one has the name of its type.
type field struct {
	name, of string
	embedded bool
}

// field finds a field of a struct.
func (a *api) field(of, name string) (string, bool) {
	i := slices.IndexFunc(a.fields[of], func(f field) bool { return f.name == name })
	if i < 0 {
		return "", false
	}
	return a.fields[of][i].of, true
}

// method finds a method of a type, or of a struct of the package that it embeds.
func (a *api) method(of, name string) string {
	if found := a.methods[of][name]; found != "" {
		return found
	}
	for _, f := range a.fields[of] {
		if found := a.methods[f.name][name]; f.embedded && found != "" {
			return found
		}
	}
	return ""
}

// apiOf reads what a package exports from its sources.
func apiOf(sources ...[]byte) (*api, error) {
	a := &api{funcs: map[string]string{}, methods: map[string]map[string]string{}, types: map[string]string{}, fields: map[string][]field{}}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declared := range file.Decls {
			switch declared := declared.(type) {
			case *ast.FuncDecl:
				a.function(declared)
			case *ast.GenDecl:
				for _, spec := range declared.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
						a.declared(spec)
					}
				}
			}
		}
	}
	return a, nil
}

func (a *api) function(f *ast.FuncDecl) {
	if !f.Name.IsExported() {
		return
	}
	if f.Recv == nil {
		a.funcs[f.Name.Name] = signature(f.Type)
		return
	}
	receiver := types.ExprString(f.Recv.List[0].Type)
	of := strings.TrimPrefix(receiver, "*")
	if a.methods[of] == nil {
		a.methods[of] = map[string]string{}
	}
	a.methods[of][f.Name.Name] = strings.TrimSuffix(receiver, of) + signature(f.Type)
}

// signature writes a function type without the names of parameters. Before that of a method stands a star if its receiver is a pointer.
func signature(f *ast.FuncType) string {
	in, out := list(f.Params), list(f.Results)
	switch {
	case len(out) == 0:
		return "(" + strings.Join(in, ", ") + ")"
	case len(out) == 1:
		return "(" + strings.Join(in, ", ") + ") " + out[0]
	}
	return "(" + strings.Join(in, ", ") + ") (" + strings.Join(out, ", ") + ")"
}

func list(fields *ast.FieldList) (all []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(1, len(f.Names)) {
			all = append(all, types.ExprString(f.Type))
		}
	}
	return all
}

func (a *api) declared(spec *ast.TypeSpec) {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		a.types[spec.Name.Name] = types.ExprString(spec.Type)
		return
	}
	a.types[spec.Name.Name] = ""
	for _, f := range structure.Fields.List {
		of := types.ExprString(f.Type)
		for _, name := range f.Names {
			a.fields[spec.Name.Name] = append(a.fields[spec.Name.Name], field{name.Name, of, false})
		}
		if f.Names == nil {
			a.fields[spec.Name.Name] = append(a.fields[spec.Name.Name], field{strings.TrimPrefix(of[strings.LastIndex(of, ".")+1:], "*"), of, true})
		}
	}
}

// deviations are those of the packages that testdata lists, by package and what is not as everywhere else.
func deviations(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/deviations.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all[line] = true
		}
	}
	return all
}

// TestKindsAreAlike holds the packages of this module to one name for one thing.
func TestKindsAreAlike(t *testing.T) {
	packages := map[string][][]byte{}
	for name, source := range goFiles(t) {
		if folder := path.Dir(name); !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "internal/") && !strings.HasSuffix(name, "_test.go") {
			packages[folder] = append(packages[folder], source)
		}
	}
	kinds, left := 0, deviations(t)
	allowed := maps.Clone(left)
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		a, err := apiOf(packages[folder]...)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		problems := a.unlike()
		if a.isKind() {
			kinds++
			problems = append(problems, a.unlikeKind()...)
		}
		for _, p := range problems {
			if at := folder + " " + p.what; allowed[at] {
				delete(left, at)
			} else {
				t.Errorf("%s: %s is %s, want %s; if there is a reason, it belongs into testdata/deviations.txt", folder, p.what, p.found, p.want)
			}
		}
	}
	if kinds != numberOfKinds {
		t.Errorf("%d packages have New and a Plan, want %d: correct the number", kinds, numberOfKinds)
	}
	for at := range left {
		t.Errorf("%s does not deviate any more: take it out of testdata/deviations.txt", at)
	}
}

// unlikeness is something that deviates from what all packages have.
type unlikeness struct{ what, found, want string }

func (u unlikeness) String() string { return fmt.Sprintf("%s: %s, want %s", u.what, u.found, u.want) }
