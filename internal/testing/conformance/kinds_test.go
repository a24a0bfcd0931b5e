// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAllKindsArePlayed: each package that makes a reconciler is played here, refused and taken back, by tests of its own or of the
// package above it, and the table of CT-12 has a row for it. (CT-3, CT-11, CT-12)
func TestAllKindsArePlayed(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(root(), "internal/controller/RULES.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range packagesWith(t, "func NewReconciler(") {
		if dir == "internal/controller" {
			continue // the shell of all
		}
		found++
		played := false
		for _, at := range []string{dir, filepath.ToSlash(filepath.Dir(dir))} {
			played = played || bytes.Contains(rules, []byte("\n| `"+at+"` |")) && plays(t, at)
		}
		if !played {
			t.Errorf("no test of %s calls conformance.Test or TestAgent, or the table of CT-12 has no row for it", dir)
		}
	}
	if found < 26 {
		t.Errorf("%d kinds found, there were 26", found)
	}
}

func plays(t *testing.T, dir string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(root(), dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		text, err := os.ReadFile(test)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("conformance.Test(")) || bytes.Contains(text, []byte("conformance.TestAgent(")) {
			return true
		}
	}
	return false
}

// packagesWith are the directories that hold a Go file with a text.
func packagesWith(t *testing.T, text string) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "examples" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(data, []byte("\n"+text)) {
			return err
		}
		dir, err := filepath.Rel(root(), filepath.Dir(path))
		dirs = append(dirs, filepath.ToSlash(dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}
