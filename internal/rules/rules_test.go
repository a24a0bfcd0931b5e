// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// root is the folder of the repository.
const root = "../.."

func TestRules(t *testing.T) {
	files, err := readRepository(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if files["workloads/cloneset/RULES.md"] == "" || files["examples/tests/e2e/scale_test.go"] == "" {
		t.Fatalf("%d files were read, and not those of both modules", len(files))
	}
	for _, problem := range problems(files) {
		t.Error(problem)
	}
}

// head is how each page begins, for its users. It says what the package does, what it promises by which rules, and what
// it never does. It also says where its numbers come from, and how to read on.
var head = regexp.MustCompile(`^# Rules of .+\n\n(?:.+\n)*?.*\bYou\s+can\s+rely\s+on\s+this:\n\n(?:- [^*].+\n(?:  .+\n)*){3,4}- \*\*It never\*\* (?:.+\n)+?- \*\*Numbers:\*\* (?:.+\n)+?- \*\*Reading:\*\* .+\n\n`)

func TestHeads(t *testing.T) {
	files, err := readRepository(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if path.Base(name) != "RULES.md" {
			continue
		}
		if lines := strings.Count(head.FindString(text), "\n"); lines == 0 || lines > 16 {
			t.Errorf("%s does not begin with what users want to know, in 16 lines: it has %d of the form %v", name, lines, head)
		}
	}
}

// readRepository returns what may define or cite a rule, by its path.
func readRepository(repository fs.FS) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && len(name) > 1 && strings.HasPrefix(entry.Name(), "."), name == "internal/rules":
			return fs.SkipDir
		case entry.IsDir() || !mayCite(name):
			return nil
		}
		content, err := fs.ReadFile(repository, name)
		files[name] = string(content)
		return err
	})
	return files, err
}

func mayCite(name string) bool {
	return path.Ext(name) == ".go" || path.Ext(name) == ".md" || path.Ext(name) == ".txt" && strings.Contains(name, "testdata/")
}

// TestProblems shows what is wrong with the pages and citations in testdata/problems.txt. The name of a file stands before its lines.
func TestProblems(t *testing.T) {
	datadriven.RunTest(t, "testdata/problems.txt", func(t *testing.T, d *datadriven.TestData) string {
		files, name := map[string]string{}, ""
		for line := range strings.Lines(d.Input + "\n") {
			if file, is := strings.CutPrefix(line, "-- "); is {
				name = strings.TrimSpace(file)
				continue
			}
			files[name] += line
		}
		found := problems(files)
		slices.Sort(found)
		return strings.Join(append(found, ""), "\n")
	})
}
