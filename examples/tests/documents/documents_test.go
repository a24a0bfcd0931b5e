// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// The folders of the documents, and of the repository.
const (
	examples   = "../.."
	repository = "../../.."
)

// written are the documents that are held to what is there, as seen from the repository.
var written = []string{
	"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "examples/MEASURED.md", "examples/MIGRATION.md", "examples/DEFECTS.md", "examples/LIMITS.md", "examples/OPERATING.md",
}

// citing are those that cite tests.
var citing = []string{"SECURITY.md", "examples/MIGRATION.md", "examples/DEFECTS.md", "examples/LIMITS.md"}

var (
	link     = regexp.MustCompile(`\[([^\]\n]+)\]\(([^)\n]+)\)`)
	cited    = regexp.MustCompile(`^([tT]est[A-Z]\w*)(?:: (.+))?$`)
	ruleID   = regexp.MustCompile(`\b[A-Z]{2,3}-(?:[A-Z]{0,2}\d+(?:\.\d+)*)\b`)
	noRuleID = regexp.MustCompile(`^(?:UTF|SHA|CVE)-`)
)

func read(t *testing.T, name ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// near returns the path of what a document calls by another one.
func near(document, name string) string {
	return filepath.Join(repository, filepath.Dir(document), name)
}

// anchors returns the names by which GitHub knows the headings of a document.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		for again, n := name, 1; all[name]; n++ {
			name = fmt.Sprintf("%s-%d", again, n)
		}
		all[name] = true
	}
	return all
}

// TestLinks wants a file or a folder behind every link into the repository, and a heading behind every anchor.
func TestLinks(t *testing.T) {
	for _, document := range written {
		for _, l := range link.FindAllStringSubmatch(read(t, repository, document), -1) {
			if strings.HasPrefix(l[2], "https://") {
				continue // which others keep
			}
			name, anchor, anchored := strings.Cut(l[2], "#")
			file := near(document, name)
			if name == "" {
				file = filepath.Join(repository, document)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: [%s](%s): %v", document, l[1], l[2], err)
			} else if anchored && !anchors(read(t, file))[anchor] {
				t.Errorf("%s: [%s](%s): no heading of %s has this anchor", document, l[1], l[2], file)
			}
		}
	}
	// The tour links to packages.
	for _, m := range regexp.MustCompile(`\[github\.com/podwright/podwright/([\w/]+)\]`).FindAllStringSubmatch(read(t, repository, "doc.go"), -1) {
		if files, _ := filepath.Glob(filepath.Join(repository, m[1], "*.go")); len(files) == 0 {
			t.Errorf("doc.go: %s is no package", m[1])
		}
	}
}

func TestAnchors(t *testing.T) {
	got := anchors("# See it\n## `make test`, and more\ntext\n## See it\n")
	want := map[string]bool{"see-it": true, "make-test-and-more": true, "see-it-1": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("anchors (-want +got):\n%s", diff)
	}
}

// TestCitedTests wants a test of the name that a link has, in the file that the link leads to. If the link names a case, the
// test must have it.
func TestCitedTests(t *testing.T) {
	for _, document := range citing {
		n := 0
		for _, l := range link.FindAllStringSubmatch(read(t, repository, document), -1) {
			m := cited.FindStringSubmatch(l[1])
			if m == nil {
				if strings.HasSuffix(l[2], "_test.go") {
					t.Errorf("%s: [%s](%s) names no test", document, l[1], l[2])
				}
				continue
			}
			n++
			_, body, found := strings.Cut(read(t, near(document, l[2])), "\nfunc "+m[1]+"(")
			body, _, _ = strings.Cut(body, "\n}\n")
			if !found || !strings.HasSuffix(l[2], "_test.go") {
				t.Errorf("%s: %s is not in %s", document, m[1], l[2])
			} else if !strings.Contains(body, m[2]) {
				t.Errorf("%s: %s of %s has no case %q", document, m[1], l[2], m[2])
			}
		}
		if n == 0 {
			t.Errorf("%s cites no test", document)
		}
	}
}

// TestCitedRules wants every rule in a RULES.md.
func TestCitedRules(t *testing.T) {
	var pages strings.Builder
	for _, pattern := range []string{"*/RULES.md", "*/*/RULES.md", "*/*/*/RULES.md"} {
		names, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			pages.WriteString(read(t, name))
		}
	}
	for _, document := range written {
		for _, id := range ruleID.FindAllString(read(t, repository, document), -1) {
			if !noRuleID.MatchString(id) && !strings.Contains(pages.String(), "**"+id+"**") {
				t.Errorf("%s cites %s, which no RULES.md holds", document, id)
			}
		}
	}
}

// TestFolders wants each folder of this module in the first column of a table of the README, once: those to copy, and those in tests.
func TestFolders(t *testing.T) {
	var want, got []string
	for _, room := range []string{"", "tests"} {
		entries, err := os.ReadDir(filepath.Join(examples, room))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if path := filepath.Join(room, entry.Name()); entry.IsDir() && path != "bin" && path != "tests" {
				want = append(want, path)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([^)]+)\) \|`).FindAllStringSubmatch(read(t, examples, "README.md"), -1) {
		if m[1] != filepath.Base(m[2]) {
			t.Errorf("README.md: [%s] leads to %s", m[1], m[2])
		}
		got = append(got, m[2])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders in README.md (-want +got):\n%s", diff)
	}
	if !strings.Contains(read(t, repository, "README.md"), "](examples/README.md)") {
		t.Error("the README of the repository has no link to that of the examples")
	}
}

// TestDefects wants a test in each row of DEFECTS.md, and as many rows as it says.
func TestDefects(t *testing.T) {
	text := read(t, examples, "DEFECTS.md")
	rows := regexp.MustCompile(`(?m)^\| (?:[^|]+) \| (?:[^|]+) \| (.+) \|$`).FindAllStringSubmatch(text, -1)[1:] // without the heading
	for _, row := range rows {
		if !strings.HasPrefix(row[1], "[Test") {
			t.Errorf("no test: %s", row[0])
		}
	}
	if want := fmt.Sprintf("The table has %d rows.", len(rows)); !strings.Contains(text, want) {
		t.Errorf("want %q", want)
	}
}
