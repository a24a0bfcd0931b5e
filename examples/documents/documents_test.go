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

	"github.com/google/go-cmp/cmp"
)

// The folders of the documents, and of the repository.
const (
	examples   = ".."
	repository = "../.."
)

// written are the documents that are held to what is there.
var written = []string{"README.md", "MIGRATION.md", "DEFECTS.md"}

var (
	link     = regexp.MustCompile(`\[([^\]\n]+)\]\(([^)\n]+)\)`)
	cited    = regexp.MustCompile(`^([tT]est[A-Z]\w*)(?:: (.+))?$`)
	ruleID   = regexp.MustCompile(`\b[A-Z]{2,3}-(?:[A-Z]{0,2}\d+(?:\.\d+)*)\b`)
	noRuleID = regexp.MustCompile(`^(?:UTF|SHA|CVE)-`)
	target   = regexp.MustCompile("`make ([a-z-]+)")
	program  = regexp.MustCompile("`go run (?:-C examples )?\\./([\\w/-]+)")
)

func read(t *testing.T, name ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(name...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestLinks wants a file or a folder behind every link into the repository.
func TestLinks(t *testing.T) {
	for _, document := range written {
		links := link.FindAllStringSubmatch(read(t, examples, document), -1)
		if len(links) == 0 {
			t.Errorf("%s has no links", document)
		}
		for _, l := range links {
			if strings.HasPrefix(l[2], "https://") {
				continue // which others keep
			}
			if _, err := os.Stat(filepath.Join(examples, l[2])); err != nil {
				t.Errorf("%s: [%s](%s): %v", document, l[1], l[2], err)
			}
		}
	}
}

// TestCitedTests wants a test of the name that a link has in the file that it leads to, and in there the name of the case, if
// it has one.
func TestCitedTests(t *testing.T) {
	for _, document := range written[1:] {
		n := 0
		for _, l := range link.FindAllStringSubmatch(read(t, examples, document), -1) {
			m := cited.FindStringSubmatch(l[1])
			if m == nil {
				if strings.HasSuffix(l[2], "_test.go") {
					t.Errorf("%s: [%s](%s) names no test", document, l[1], l[2])
				}
				continue
			}
			n++
			_, body, found := strings.Cut(read(t, examples, l[2]), "\nfunc "+m[1]+"(")
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
		for _, id := range ruleID.FindAllString(read(t, examples, document), -1) {
			if !noRuleID.MatchString(id) && !strings.Contains(pages.String(), "**"+id+"**") {
				t.Errorf("%s cites %s, which no RULES.md holds", document, id)
			}
		}
	}
}

// TestCommands wants what the documents say to run.
func TestCommands(t *testing.T) {
	makefile := read(t, repository, "Makefile")
	for _, document := range written {
		text := read(t, examples, document)
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: the Makefile has no target %s", document, m[1])
			}
		}
		for _, m := range program.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(read(t, examples, m[1], "main.go"), "\npackage main\n") {
				t.Errorf("%s: %s is no program", document, m[1])
			}
		}
	}
}

// TestFolders wants each folder of this module in the first column of a table of the README, once.
func TestFolders(t *testing.T) {
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "bin" {
			want = append(want, entry.Name())
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(([^)]+)\) \|`).FindAllStringSubmatch(read(t, examples, "README.md"), -1) {
		if m[1] != m[2] {
			t.Errorf("README.md: [%s] leads to %s", m[1], m[2])
		}
		got = append(got, m[1])
	}
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
