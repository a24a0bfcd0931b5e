// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofLibrary returns the Go files of the library by their path, tests apart from others.
func ofLibrary(t *testing.T) (code, tests map[string][]byte) {
	t.Helper()
	code, tests = map[string][]byte{}, map[string][]byte{}
	for name, source := range goFiles(t) {
		switch {
		case strings.HasPrefix(name, "examples/"):
		case strings.HasSuffix(name, "_test.go"):
			tests[name] = source
		default:
			code[name] = source
		}
	}
	return code, tests
}

// foldersWith are those of files with one of some texts.
func foldersWith(files map[string][]byte, texts ...string) map[string]bool {
	folders := map[string]bool{}
	for name, source := range files {
		if slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(source, []byte(text)) }) {
			folders[path.Dir(name)] = true
		}
	}
	return folders
}

// TestAllKindsArePlayed: each package that makes a reconciler is played, with refusals and with writes that are taken back. Its own
// tests do so, or those of the package above it. The table of CT-12 has a row for it. (CT-3, CT-11, CT-12)
func TestAllKindsArePlayed(t *testing.T) {
	rules, err := os.ReadFile(path.Join(root, "internal/controller/RULES.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, tests := ofLibrary(t)
	played := foldersWith(tests, "conformance.Test(", "conformance.TestAgent(")
	for folder := range played {
		played[folder] = bytes.Contains(rules, []byte("\n| `"+folder+"` |"))
	}
	kinds := foldersWith(code, "\nfunc NewReconciler(")
	delete(kinds, "internal/controller") // the shell of all
	for folder := range kinds {
		if !played[folder] && !played[path.Dir(folder)] {
			t.Errorf("no test of %s calls conformance.Test or TestAgent, or the table of CT-12 has no row for it", folder)
		}
	}
	if len(kinds) < numberOfKinds {
		t.Errorf("%d kinds found, there were %d", len(kinds), numberOfKinds)
	}
}

// notEdited are the kinds whose fields no users of histories edit, and why.
var notEdited = map[string]string{
	"NodeImage":    "controllers and agents write it",
	"NodePodProbe": "a controller writes it",
}

// TestAllKindsAreEdited: the users of the histories of each kind edit every field of its spec.
func TestAllKindsAreEdited(t *testing.T) {
	call := regexp.MustCompile(`editing\.Check(?:Edits)?\(t, editing\.Subject\[\w+\.(\w+)\]`)
	kind := regexp.MustCompile(`(?m)^type (\w+) struct \{\n(?:\tmetav1\.TypeMeta.*\n)\s*(?:.*\n)*?\tSpec +\w+Spec`)
	named := func(files map[string][]byte, ending string, by *regexp.Regexp) map[string]bool {
		names := map[string]bool{}
		for name, source := range files {
			for _, found := range by.FindAllSubmatch(source, -1) {
				if strings.HasSuffix(name, ending) {
					names[string(found[1])] = true
				}
			}
		}
		return names
	}
	code, tests := ofLibrary(t)
	edited, kinds := named(tests, "_test.go", call), named(code, "_types.go", kind)
	for kind := range kinds {
		switch why := notEdited[kind]; {
		case why == "" && !edited[kind]:
			t.Errorf("no test calls editing.Check for %s", kind)
		case why != "" && edited[kind]:
			t.Errorf("%s is edited, and the table says: %s", kind, why)
		}
	}
	if len(kinds) < 15 {
		t.Errorf("%d kinds found: %v", len(kinds), kinds)
	}
}
