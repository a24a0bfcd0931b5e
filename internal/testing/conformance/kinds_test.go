// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAllKindsArePlayed: each package that makes a reconciler is played, with refusals and with writes that are taken back. Its own
// tests do so, or those of the package above it. The table of CT-12 has a row for it. (CT-3, CT-11, CT-12)
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
	if found < 27 {
		t.Errorf("%d kinds found, there were 27", found)
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
	walkGo(t, func(path string, data []byte) {
		if strings.HasSuffix(path, "_test.go") || !bytes.Contains(data, []byte("\n"+text)) {
			return
		}
		dir, err := filepath.Rel(root(), filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.ToSlash(dir))
	})
	return dirs
}

// walkGo shows the Go files of the library.
func walkGo(t *testing.T, show func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "examples" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			show(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// notEdited are the kinds whose fields no users of histories edit, and why.
var notEdited = map[string]string{
	"NodeImage":    "controllers and agents write it",
	"NodePodProbe": "a controller writes it",
}

// TestAllKindsAreEdited: the users of the histories of each kind edit every field of its spec.
func TestAllKindsAreEdited(t *testing.T) {
	edited := map[string]bool{}
	call := regexp.MustCompile(`editing\.Check(?:Edits)?\(t, editing\.Subject\[\w+\.(\w+)\]`)
	kind := regexp.MustCompile(`(?m)^type (\w+) struct \{\n(?:\tmetav1\.TypeMeta.*\n)\s*(?:.*\n)*?\tSpec +(\w+)Spec`)
	kinds := map[string]bool{}
	walkGo(t, func(path string, text []byte) {
		switch {
		case strings.HasSuffix(path, "_test.go"):
			for _, found := range call.FindAllSubmatch(text, -1) {
				edited[string(found[1])] = true
			}
		case strings.HasSuffix(path, "_types.go"):
			for _, found := range kind.FindAllSubmatch(text, -1) {
				kinds[string(found[1])] = true
			}
		}
	})
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		switch why := notEdited[kind]; {
		case why == "" && !edited[kind]:
			t.Errorf("no test calls editing.Check for %s", kind)
		case why != "" && edited[kind]:
			t.Errorf("%s is edited, and the table says: %s", kind, why)
		}
	}
	if len(kinds) < 15 {
		t.Errorf("%d kinds found: %v", len(kinds), slices.Sorted(maps.Keys(kinds)))
	}
}
