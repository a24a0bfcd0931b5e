// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pureFolder matches the folders of the arithmetic, and planFile the planners of
// the controllers, wherever they stand.
var (
	pureFolder = regexp.MustCompile(`^(inplace|lifecycle)/`)
	planFile   = regexp.MustCompile(`/plan(_[a-z0-9_]+)?\.go$|/planner\.go$|/snapshot\.go$`)
)

// mustBePure says whether a file must be pure: it does no I/O, reads no clock,
// draws no random numbers, starts no goroutines. That are the planners, and all
// of inplace and lifecycle but the typed clients and the packages that run.
func mustBePure(name string, running map[string]bool) bool {
	at := layer(path.Dir(name), running)
	return planFile.MatchString(name) || pureFolder.MatchString(name) && at != "client" && at != "running"
}

// impureImports are packages (or, with a slash at the end, trees of packages)
// that a pure file has no use for.
var impureImports = []string{
	"context", "crypto/rand", "log", "log/", "math/rand", "math/rand/", "net", "net/", "os", "os/", "syscall",
	"k8s.io/apimachinery/pkg/util/uuid", "k8s.io/apimachinery/pkg/util/wait", "k8s.io/apimachinery/pkg/watch",
	"k8s.io/client-go/kubernetes", "k8s.io/client-go/rest", "k8s.io/klog/v2", "k8s.io/utils/clock", "k8s.io/utils/clock/", "k8s.io/utils/exec",
}

// impureNames are what a pure file must not use of packages that it may
// import; for a name with "!", everything else of its package.
var impureNames = map[string][]string{
	"time":                                 {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"fmt":                                  {"Fscan", "Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
	"k8s.io/apimachinery/pkg/util/rand":    {"!SafeEncodeString"},
}

// impurities lists what makes a Go file impure, in the order of the file.
func impurities(name string, source []byte) ([]string, error) {
	fileSet := token.NewFileSet()
	file, err := parser.ParseFile(fileSet, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	report := func(node ast.Node, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s:%d %s", name, fileSet.Position(node.Pos()).Line, fmt.Sprintf(format, args...)))
	}
	imported := map[string]string{} // the name in the file → the package
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imported[importName(spec, importPath)] = importPath
		if slices.ContainsFunc(impureImports, func(impure string) bool {
			return importPath == impure || strings.HasSuffix(impure, "/") && strings.HasPrefix(importPath, impure)
		}) {
			report(spec, "imports %s", importPath)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			report(node, "starts a goroutine")
		case *ast.FuncDecl:
			if node.Recv == nil && node.Name.Name == "init" {
				report(node, "has a function init")
			}
		case *ast.SelectorExpr:
			if x, ok := node.X.(*ast.Ident); ok && isImpure(imported[x.Name], node.Sel.Name) {
				report(node, "uses %s.%s", x.Name, node.Sel.Name)
			}
		}
		return true
	})
	return found, nil
}

// importName is the name that a file knows a package by.
func importName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath)
}

func isImpure(importPath, name string) bool {
	for _, impure := range impureNames[importPath] {
		if only, ok := strings.CutPrefix(impure, "!"); ok && name != only || name == impure {
			return true
		}
	}
	return false
}
