package layers

import (
	"io/fs"
	"os"
	"strings"
	"testing"
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

func TestFiles(t *testing.T) {
	pure := 0
	for name, source := range goFiles(t) {
		problems, err := fileProblems(name, source)
		if err != nil {
			t.Error(err)
		}
		if mustBePure(name) && !strings.HasSuffix(name, "_test.go") {
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

// goFiles returns all Go files of the repository, the examples included, by
// their path in it.
func goFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	repository := os.DirFS(root)
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || len(name) > 1 && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		files[name], err = fs.ReadFile(repository, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
