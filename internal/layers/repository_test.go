// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImports(t *testing.T) {
	g := readGraph(t)
	if g[module+"/internal/layers"] == nil || g["k8s.io/api/core/v1"] == nil {
		t.Fatalf("the graph of %d packages lacks this package or its dependencies", len(g))
	}
	for _, problem := range append(importProblems(g, furtherModules), weightProblems(g, maxWeight)...) {
		t.Error(problem)
	}
}

// maxInternal is how many packages internal has at most, beside those for tests and those that hold tests alone. Before one is added,
// another one is merged with what it serves. heldup is the fifteenth: planners, the shell, what applies plans, and kubectl podwright
// explain share its words. None of them imports all of the others. workload is the sixteenth: arithmetic shares its table with controllers,
// and may not import caches.
const maxInternal = 16

var testsAlone = modules("layers", "rules", "wire", "manifests/kinds")

func TestInternalIsSmall(t *testing.T) {
	var found []string
	for path, p := range readGraph(t) {
		name, internal := strings.CutPrefix(path, module+"/internal/")
		if p.modulePath() == module && internal && layer(path, nil) != "test" && !testsAlone[name] {
			found = append(found, name)
		}
	}
	if len(found) == 0 || len(found) > maxInternal {
		slices.Sort(found)
		t.Errorf("internal has %d packages, want 1 to %d: %s", len(found), maxInternal, strings.Join(found, " "))
	}
}

// oldest is the program that holds the packages which do not run to the oldest
// Kubernetes libraries that they are good for: see "make test-oldest".
const oldest = root + "/internal/layers/testdata/kubernetes-0.34/arithmetic.go"

func TestOldestImportsAll(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), oldest, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, spec := range file.Imports {
		got = append(got, strings.Trim(spec.Path.Value, `"`))
	}
	g := readGraph(t)
	running := g.running()
	for path, p := range g {
		if at := layer(path, running); p.modulePath() == module && !strings.Contains(path, "/internal/") && (at == "pure" || at == "api") {
			want = append(want, path)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s must import all packages that do not run, sorted (-want +got):\n%s", oldest, diff)
	}
}

func TestFiles(t *testing.T) {
	pure, running := 0, readGraph(t).running()
	for name, source := range goFiles(t) {
		problems, err := fileProblems(name, source)
		if err != nil {
			t.Error(err)
		}
		problems = append(problems, licenseProblems(name, source)...)
		if mustBePure(name, running) && !strings.HasSuffix(name, "_test.go") {
			pure++
			impure, err := impurities(name, source)
			if err != nil {
				t.Error(err)
			}
			problems = append(problems, impure...)
		}
		for _, problem := range problems {
			t.Error(problem)
		}
	}
	if pure == 0 {
		t.Error("no file was found that must be pure")
	}
}

// TestNoPrograms wants no file so large that a build must have left it: git keeps it for ever. Programs are built into bin.
func TestNoPrograms(t *testing.T) {
	walk(t, func(folder string) bool { return folder != ".git" && folder != "bin" }, func(name string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err == nil && info.Size() > largestFile {
			t.Errorf("%s has %d bytes, want at most %d", name, info.Size(), largestFile)
		}
		return err
	})
}

// largestFile is the size of the largest file that people write or generate, in bytes, and half as much again.
const largestFile = 650_000

// goFiles returns all Go files of the repository, the examples included, by
// their path in it.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	return contents(t, func(name string) bool { return strings.HasSuffix(name, ".go") }, func(folder string) bool {
		return folder != "testdata" && (folder == "." || !strings.HasPrefix(folder, "."))
	})
}

// contents returns the files of the repository that are asked for, in the folders that are asked for by name, by their path.
func contents(t *testing.T, wanted, within func(name string) bool) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	walk(t, within, func(name string, _ fs.DirEntry) (err error) {
		if wanted(name) {
			files[name], err = os.ReadFile(path.Join(root, name))
		}
		return err
	})
	return files
}

// walk visits the files of the repository in the folders that are asked for, by name.
func walk(t *testing.T, within func(folder string) bool, visit func(name string, entry fs.DirEntry) error) {
	t.Helper()
	if err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && !within(entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return visit(name, entry)
	}); err != nil {
		t.Fatal(err)
	}
}
