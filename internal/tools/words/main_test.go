// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.go", "package a\n\n// Nobody acts.\nconst nobody = \"nobody is told\" // as\n")
	write("a_test.go", "package a\n\n// As it is,\nconst text = \"nobody\"\n")
	write("long.go", "package a\n\n// A"+strings.Repeat(" word", 23)+": it\n// is (CS-1 to CS-3, and others). It has\n//   - "+strings.Repeat("word ", 24)+"end.\n//\n//\t"+strings.Repeat("code ", 30)+"\nconst b = 1\n")
	write("long.md", "| a | "+strings.Repeat("word ", 26)+"|\n\n```\n"+strings.Repeat("code ", 30)+"\n```\n")
	write("README.md", "Nobody, nobodys.\nas it is")
	write("testdata/b.md", "nobody")
	write("zz_generated.a.go", "package a\n\n// nobody\n")
	for limits, want := range map[string]string{
		"3 nobody\n2 as it is":              "",
		"2 nobody\n2 as it is":              `"nobody" stands 3 times`,
		"4 nobody\n2 as it is":              `"nobody" stands 3 times only: lower its limit`,
		"3 nobody\n1 as it is":              "README.md:2: as it is",
		"three nobody":                      "is no number and word",
		"3 nobody\n0 somebody ":             "",
		"2 sentences of more than 25 words": "",
		"1 sentences of more than 25 words": "long.go:3:1: 26 words: A word word",
		"0 sentences of more than 25 words": "long.md: 26 words: word word",
	} {
		problems, notes, err := check(write("limits.txt", limits), folder)
		got := strings.Join(append(notes, problems...), "\n")
		if err != nil {
			got = err.Error()
		}
		if fails := strings.Contains(want, "stands 3 times") && !strings.Contains(want, "only") || strings.HasPrefix(want, "README") || strings.HasPrefix(want, "long"); err == nil && fails != (len(problems) > 0) {
			t.Errorf("%q: problems %q", limits, problems)
		}
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", limits, got, want)
		}
	}
}
