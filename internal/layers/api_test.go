// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// api is what a package exports, by name: functions and types, and fields and methods behind the name of their type. An embedded field
// has the name of its type. Functions are written without the names of parameters, and types as in the source, or as "struct".
type api map[string]string

// apiOf reads what a package exports from its sources.
func apiOf(sources ...[]byte) (api, error) {
	a, embedded := api{}, [][2]string{}
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
						embedded = append(embedded, a.declared(spec)...)
					}
				}
			}
		}
	}
	for _, pair := range embedded { // a type has the methods of what it embeds
		for _, name := range slices.Collect(maps.Keys(a)) {
			if method, is := strings.CutPrefix(name, pair[1]+"."); is {
				a[pair[0]+"."+method] = cmp.Or(a[pair[0]+"."+method], a[name])
			}
		}
	}
	return a, nil
}

// function notes a function or a method. Before that of a method stands a star if its receiver is a pointer.
func (a api) function(f *ast.FuncDecl) {
	name, pointer := f.Name.Name, ""
	if f.Recv != nil {
		receiver := types.ExprString(f.Recv.List[0].Type)
		of := strings.TrimPrefix(receiver, "*")
		name, pointer = of+"."+name, strings.TrimSuffix(receiver, of)
	}
	if f.Name.IsExported() {
		unnamed := &ast.FuncType{Params: unnamed(f.Type.Params), Results: unnamed(f.Type.Results)}
		a[name] = pointer + strings.TrimPrefix(types.ExprString(unnamed), "func")
	}
}

func unnamed(fields *ast.FieldList) *ast.FieldList {
	all := &ast.FieldList{}
	if fields != nil {
		for _, f := range fields.List {
			for range max(1, len(f.Names)) {
				all.List = append(all.List, &ast.Field{Type: f.Type})
			}
		}
	}
	return all
}

// declared notes a type, and returns what it embeds.
func (a api) declared(spec *ast.TypeSpec) (embedded [][2]string) {
	of := spec.Name.Name
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		a[of] = types.ExprString(spec.Type)
		return nil
	}
	a[of] = "struct"
	for _, f := range structure.Fields.List {
		shape := types.ExprString(f.Type)
		for _, name := range f.Names {
			a[of+"."+name.Name] = shape
		}
		if f.Names == nil {
			name := strings.TrimPrefix(shape[strings.LastIndex(shape, ".")+1:], "*")
			a[of+"."+name] = shape
			embedded = append(embedded, [2]string{of, name})
		}
	}
	return embedded
}

// isKind tells whether a package is that of a kind: it makes controllers.
func (a api) isKind() bool { return a["Plan"] != "" && strings.HasPrefix(a["New"], "(Options)") }

// unlike lists what is not as the rows of testdata/shapes.txt say.
func (a api) unlike() (found []string, err error) {
	rows, err := table("testdata/shapes.txt")
	for _, row := range rows {
		columns := strings.Split(row, " | ")
		packages, then, want := columns[0], columns[3], columns[4]
		pattern, err := regexp.Compile("^(?:" + columns[1] + ")$")
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(a)) {
			if packages == "kind" && !a.isKind() || !pattern.MatchString(name) || !fits(a[name], columns[2]) {
				continue
			}
			at := pattern.ReplaceAllString(name, strings.Replace(then, "same", "$0", 1))
			if then == "never" {
				found = append(found, fmt.Sprintf("%s: is there, want %s", name, want))
			} else if is := a[at]; !fits(is, want) {
				found = append(found, fmt.Sprintf("%s: %s, want %s", at, cmp.Or(is, "not there"), want))
			}
		}
	}
	return found, err
}

// fits tells whether a shape is one of those of a table.
func fits(is, want string) bool {
	for shape := range strings.SplitSeq(want, " or ") {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(shape), "_", `[a-z0-9]+\.\w+`)
		if shape == "anything" || regexp.MustCompile("^"+pattern+"$").MatchString(is) {
			return true
		}
	}
	return false
}

// table returns the lines of a file that are neither empty nor a comment.
func table(name string) (lines []string, err error) {
	text, err := os.ReadFile(name)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// numberOfKinds is how many packages have New and a Plan.
const numberOfKinds = 27

// TestKindsAreAlike holds the packages of this module to one name for one thing. What deviates stands in testdata/deviations.txt, below the reason.
func TestKindsAreAlike(t *testing.T) {
	packages := map[string][][]byte{}
	for name, source := range goFiles(t) {
		if folder := path.Dir(name); !strings.HasPrefix(name, "examples/") && !strings.HasPrefix(name, "internal/") && !strings.HasSuffix(name, "_test.go") {
			packages[folder] = append(packages[folder], source)
		}
	}
	deviations, err := table("testdata/deviations.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds, left := 0, slices.Clone(deviations)
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		a, err := apiOf(packages[folder]...)
		if err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
		if a.isKind() {
			kinds++
		}
		problems, err := a.unlike()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			what, _, _ := strings.Cut(problem, ": ")
			at := folder + " " + what
			if !slices.Contains(deviations, at) {
				t.Errorf("%s: %s; if there is a reason, it belongs into testdata/deviations.txt", folder, problem)
			}
			left = slices.DeleteFunc(left, func(of string) bool { return of == at })
		}
	}
	if kinds != numberOfKinds {
		t.Errorf("%d packages have New and a Plan, want %d: correct the number", kinds, numberOfKinds)
	}
	for _, at := range left {
		t.Errorf("%s does not deviate any more: take it out of testdata/deviations.txt", at)
	}
}
