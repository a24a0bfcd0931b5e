// SPDX-License-Identifier: Apache-2.0

package editing

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// word is what a step of a path, an identifier or a part of a string is made of.
var word = regexp.MustCompile(`[A-Za-z0-9]+`)

// named returns an error if a test cannot edit a field. Either the test is in none of the files, or it does not name the steps of the
// path. What it plays of testdata counts.
func named(path, test string, files ...string) error {
	declared, err := declarations(files)
	if err != nil {
		return err
	}
	if declared[test] == nil || !strings.HasPrefix(test, "Test") {
		return fmt.Errorf("there is no test %q", test)
	}
	words := map[string]bool{}
	reach(test, declared, words)
	for _, step := range word.FindAllString(path, -1) {
		if !words[strings.ToLower(step)] {
			return fmt.Errorf("%s does not name %s", test, step)
		}
	}
	return nil
}

// declarations are the functions, methods and variables of files, by name.
func declarations(files []string) (map[string][]ast.Node, error) {
	declared := map[string][]ast.Node{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = append(declared[d.Name.Name], d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if values, is := spec.(*ast.ValueSpec); is {
						for _, name := range values.Names {
							declared[name.Name] = append(declared[name.Name], values)
						}
					}
				}
			}
		}
	}
	return declared, nil
}

// reach collects the words of what a declaration, and what it names, consists of, in lower case. What is reached is taken from those
// that are declared.
func reach(name string, declared map[string][]ast.Node, words map[string]bool) {
	nodes := declared[name]
	delete(declared, name)
	for _, node := range nodes {
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				words[strings.ToLower(n.Name)] = true
				reach(n.Name, declared, words)
			case *ast.BasicLit:
				addWords(n.Value, words)
				if text, err := strconv.Unquote(n.Value); err == nil && strings.HasPrefix(text, "testdata/") {
					addScripts(text, words)
				}
			}
			return true
		})
	}
}

func addWords(of string, words map[string]bool) {
	for _, w := range word.FindAllString(of, -1) {
		words[strings.ToLower(w)] = true
	}
}

// addScripts adds the words of a file, or of those in a folder, but for their comments. What cannot be read names nothing.
func addScripts(path string, words map[string]bool) {
	_ = filepath.WalkDir(path, func(path string, _ fs.DirEntry, _ error) error {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") {
				addWords(line, words)
			}
		}
		return nil
	})
}

// testFiles are those of the package under test, where tests run, but for those that check what histories edit.
func testFiles() ([]string, error) {
	all, err := filepath.Glob("*_test.go")
	files := all[:0]
	for _, file := range all {
		if file != "simulation_fields_test.go" {
			files = append(files, file)
		}
	}
	return files, err
}
