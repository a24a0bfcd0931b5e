// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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

// undocumented lists the exported identifiers of a file that no comment describes. A comment stands above an identifier or
// behind it. One above lines that stand together is also about the others in them that it names.
func undocumented(name string, source []byte) (missing []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")
	line := func(at token.Pos) int { return set.Position(at).Line }
	want := func(of string, from int, id *ast.Ident, comments ...*ast.CommentGroup) {
		described := slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" })
		if id.IsExported() && !described && !named(id.Name, lines[from:line(id.Pos())]) {
			missing = append(missing, fmt.Sprintf("%s: %s%s", set.Position(id.Pos()), of, id.Name))
		}
	}
	for _, declared := range file.Decls {
		switch declared := declared.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(declared); receiver == "" || ast.IsExported(receiver) {
				want("", 0, declared.Name, declared.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range declared.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						want("", 0, id, spec.Doc, spec.Comment, declared.Doc)
					}
				case *ast.TypeSpec:
					want("", 0, spec.Name, spec.Doc, spec.Comment, declared.Doc)
					from := 0 // a struct of one line is described by its comment
					if begin := line(spec.Type.Pos()); begin != line(spec.Type.End()) {
						from = begin
					}
					for _, member := range members(spec) {
						for _, id := range member.Names {
							want(spec.Name.Name+".", from, id, member.Doc, member.Comment)
						}
					}
				}
			}
		}
	}
	return missing, nil
}

// named tells whether the comment above the last of some lines has a word. An empty line may not be between.
func named(word string, lines []string) bool {
	begin := len(lines)
	for begin > 0 && strings.TrimSpace(lines[begin-1]) != "" {
		begin--
		switch isComment := strings.HasPrefix(strings.TrimSpace(lines[begin]), "//"); {
		case isComment && regexp.MustCompile(`\b`+word+`\b`).MatchString(lines[begin]):
			return true
		case isComment && begin > 0 && !strings.HasPrefix(strings.TrimSpace(lines[begin-1]), "//"):
			return false
		}
	}
	return false
}

// members are the fields of a struct, or the methods of an interface, of an exported type.
func members(spec *ast.TypeSpec) []*ast.Field {
	switch of := spec.Type.(type) {
	case *ast.StructType:
		if spec.Name.IsExported() {
			return of.Fields.List
		}
	case *ast.InterfaceType:
		if spec.Name.IsExported() {
			return of.Methods.List
		}
	}
	return nil
}

// receiverOf is the name of the type that a function is a method of; empty for none.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*")
	of, _, _ = strings.Cut(of, "[")
	return of
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
