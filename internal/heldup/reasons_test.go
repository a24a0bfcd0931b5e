// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
)

// The list is closed: it has every rule of the repository, each once, and nothing else.
func TestReasons(t *testing.T) {
	listed, found := map[rollout.Rule]int{}, map[rollout.Rule]string{}
	for _, r := range reasons {
		if listed[r.rule]++; listed[r.rule] > 1 || r.Ends == "" {
			t.Errorf("%s is listed %d times, and ends when %q", r.rule, listed[r.rule], r.Ends)
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "examples" || strings.HasPrefix(d.Name(), ".git")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return rulesIn(path, found)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 40 {
		t.Fatalf("found only %d rules", len(found))
	}
	for rule, path := range found {
		if listed[rule] == 0 {
			t.Errorf("%s: rule %s is not in Reasons", path, rule)
		}
	}
	for rule := range listed {
		if found[rule] == "" {
			t.Errorf("Reasons has %s, which is no rule", rule)
		}
	}
}

// rulesIn collects the constants of the type Rule in a file.
func rulesIn(path string, found map[rollout.Rule]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		selector, other := spec.Type.(*ast.SelectorExpr)
		name, own := spec.Type.(*ast.Ident)
		if other && selector.Sel.Name != "Rule" || own && (name.Name != "Rule" || file.Name.Name != "rollout") || !other && !own {
			return true
		}
		if literal, is := spec.Values[0].(*ast.BasicLit); is {
			value, _ := strconv.Unquote(literal.Value)
			found[rollout.Rule(value)] = path
		}
		return true
	})
	return nil
}
