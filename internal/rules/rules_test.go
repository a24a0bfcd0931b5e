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

func TestProblems(t *testing.T) {
	page := func(rules ...string) string { return "# Rules\n\nProse.\n\n" + strings.Join(rules, "\n\n") + "\n" }
	const first, second, third = "**AB-1** One.", "**AB-2** Two.", "- **AB-E3** Three."
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"all is well", map[string]string{
			"a/RULES.md": page(first, second, third), "a/a.go": "// f is good. (AB-2)", "a/a_test.go": `{"AB-1, AB-2: one"}`, "a/testdata/x.txt": "# AB-E3: three"}, nil},
		{"a range", map[string]string{
			"a/RULES.md": page(first, second, "**AB-3** Three.", "**AB-4.2.1** and", "**AB-4.2.2** on"), "a/a_test.go": "// (AB-1 to AB-3, AB-4.2.1 to\n\t// AB-4.2.2)"}, nil},
		{"a range over what is not there", map[string]string{
			"a/RULES.md": page(first, "**AB-3** Three."), "a/a_test.go": "\n// (AB-1 to AB-3)"},
			[]string{"a/a_test.go:2: cites AB-2, which no RULES.md holds"}},
		{"a rule that does not exist", map[string]string{
			"a/RULES.md": page(first), "a/a_test.go": "AB-1\n// AB-7, AB-1.5"},
			[]string{"a/a_test.go:2: cites AB-1.5, which no RULES.md holds", "a/a_test.go:2: cites AB-7, which no RULES.md holds"}},
		{"cited by a page", map[string]string{
			"a/RULES.md": page("**AB-1** As AB-2 says."), "a/a_test.go": "AB-1"},
			[]string{"a/RULES.md:5: cites AB-2, which no RULES.md holds"}},
		{"letters of no page are no citation", map[string]string{
			"a/RULES.md": page(first), "a/a_test.go": "AB-1 SHA-256 UTF-8 CRI-O AB-x XAB-5"}, nil},
		{"written twice", map[string]string{
			"a/RULES.md": page(first, "- **AB-1** Again."), "a/a_test.go": "AB-1"},
			[]string{"a/RULES.md:7: AB-1 stands in a/RULES.md:5 already"}},
		{"a page with the letters of another", map[string]string{
			"a/RULES.md": page(first), "b/RULES.md": page(second), "a/a_test.go": "AB-1 AB-2"},
			[]string{"b/RULES.md:5: AB-2 has the letters of a/RULES.md"}},
		{"no test", map[string]string{
			"a/RULES.md": page(first, second), "a/a.go": "// (AB-1, AB-2)", "internal/testing/simulation/invariants/a.go": "// (AB-2)"},
			[]string{"a/RULES.md:5: no test names AB-1"}},
		{"a rule is tested by its parts", map[string]string{
			"a/RULES.md": page("**AB-1** All:", "- **AB-1.1** one", "- **AB-1.2** two"), "a/a_test.go": "AB-1.1"},
			[]string{"a/RULES.md:9: no test names AB-1.2"}},
		{"no id", map[string]string{
			"a/RULES.md": page(first), "a/a_test.go": "AB-1", "a/a.go": "// f is good. (rules\n// 3 and 4)\n// (edge case 7)"},
			[]string{`a/a.go:1: "rules 3": cite the id of the rule, such as CS-18`, `a/a.go:3: "edge case 7": cite the id of the rule, such as CS-18`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := problems(test.files)
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
