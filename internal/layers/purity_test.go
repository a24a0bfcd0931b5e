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
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestImpurities(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         []string
	}{
		{"pure", "import (\"math\"; \"time\")\nfunc f(now time.Time) float64 { return math.Ceil(now.Sub(time.Time{}).Seconds()) }", nil},
		{"a method of the same name", "type clock struct{}\nfunc (clock) Now() {}\nfunc (clock) init() {}\nfunc f(time clock) { time.Now() }", nil},
		{"I/O", "import \"os\"", []string{"x.go:2 imports os"}},
		{"I/O further down", "import \"net/http\"", []string{"x.go:2 imports net/http"}},
		{"randomness", "import r \"math/rand/v2\"", []string{"x.go:2 imports math/rand/v2"}},
		{"Kubernetes' randomness", "import \"k8s.io/apimachinery/pkg/util/rand\"\nvar a, b = rand.SafeEncodeString(\"\"), rand.String(5)", []string{"x.go:3 uses rand.String"}},
		{"the clock", "import \"time\"\nvar now = time.Now()", []string{"x.go:3 uses time.Now"}},
		{"the clock under another name", "import t \"time\"\nvar f = t.Since", []string{"x.go:3 uses t.Since"}},
		{"the clock of Kubernetes", "import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\nvar now = metav1.Now()", []string{"x.go:3 uses metav1.Now"}},
		{"waiting", "import \"time\"\nfunc f() { time.Sleep(1) }", []string{"x.go:3 uses time.Sleep"}},
		{"printing", "import \"fmt\"\nfunc f() { fmt.Println(fmt.Sprint()) }", []string{"x.go:3 uses fmt.Println"}},
		{"a goroutine", "func f() { go f() }", []string{"x.go:2 starts a goroutine"}},
		{"an init function", "func init() {}", []string{"x.go:2 has a function init"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := impurities("x.go", []byte("package x\n"+test.source))
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v, impurities (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestMustBePure(t *testing.T) {
	for name, want := range map[string]bool{
		"inplace/rollout/order.go":                   true,
		"lifecycle/state.go":                         true,
		"lifecycle/readiness/keys.go":                true,
		"lifecycle/client/client.go":                 false,
		"lifecycle/client/fake/fake.go":              false,
		"lifecycle/crds.go":                          true,
		"lifecycle/launchpriority/barrier/mutate.go": true,
		"lifecycle/launchpriority/plan.go":           true,
		"lifecycle/launchpriority/apply.go":          false,
		"lifecycle/recreate/plan.go":                 true,
		"lifecycle/recreate/apply.go":                false,
		"workloads/cloneset/plan.go":                 true,
		"workloads/cloneset/planner.go":              true,
		"workloads/cloneset/snapshot.go":             true,
		"sidecar/sidecarset/plan_pod.go":             true,
		"workloads/cloneset/apply.go":                false,
		"internal/layers/doc.go":                     false,
		"examples/inplace/main.go":                   false,
		"workloads/cloneset/explain.go":              false,
	} {
		if got := mustBePure(name, modules("lifecycle/launchpriority", "lifecycle/recreate")); got != want {
			t.Errorf("%s: must be pure: %t, want %t", name, got, want)
		}
	}
}
