// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"
)

// In the module in testdata, package a declares names, which others use or not.
func TestCheck(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/module")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	for name, test := range map[string]struct {
		kept string
		want []string // in the problems; none: there is no problem
	}{
		"nothing is said": {"9 names at most\n", []string{
			"a.Planted is", "a.Result.Unread is", "a.Result.Lonely is", "a.Alone is", "a.Plan is", "a.Plan.Steps is",
			"a.Step is", "a.Step.Why is", "a.Reason is", "a.Because is", "b.X is", "11 exported names have no user in another package, and 9 may",
		}},
		"all is said":         {"7 names at most\ndata *.Plan\tdata\na.Result.*\ta reason\na.Alone\tanother\na.Planted\tone more\nb.X\tlast\n", nil},
		"what has a user":     {"7 names at most\ndata *.Plan\tdata\na.*\ta reason\nb.*\ta reason\na.Used\tnone\n", []string{"kept.txt:5: a.Used has users, or is gone"}},
		"a planted name more": {"7 names at most\ndata *.Plan\tdata\na.Result.*\ta reason\na.Alone\tanother\nb.X\tlast\n", []string{"a.go:6:6: a.Planted is exported"}},
		"too many":            {"4 names at most\ndata *.Plan\tdata\n*\tall\n", []string{"5 exported names have no user in another package, and 4 may"}},
	} {
		if err := os.WriteFile("kept.txt", []byte(test.kept), 0o600); err != nil {
			t.Fatal(err)
		}
		problems, err := check("kept.txt", "example.com/m", []string{"./..."}, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(strings.Join(problems, "\n"), want) {
				t.Errorf("%s: no problem has %q", name, want)
			}
		}
		if len(problems) != len(test.want) {
			t.Errorf("%s: problems\n%s", name, strings.Join(problems, "\n"))
		}
	}
}

func TestReadKept(t *testing.T) {
	for _, text := range []string{"many names\n", "2 names at most\na.B\n", "2 names at most\n[\ta reason\n", "0 names at most\n"} {
		if _, err := readKept(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
