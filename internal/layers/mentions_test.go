// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// limits says of each kind how many files by hand may name it outside its package. A limit may fall, not rise: another kind costs entries in
// tables of kinds. It costs no line in files that have a list or a switch of their own. A kind without a line has the limit newKind.
const limits, newKind = "testdata/mentions.txt", 25

// slack is how far a limit may stand above what there is: tests of what several kinds share name more of them now and then.
const slack = 20

// byHand tells whether people write a file: not what is generated, golden files, API types, CRDs and clients, which each kind must have.
func byHand(name string) bool {
	return !notByHand.MatchString(name) && slices.Contains([]string{".go", ".md", ".yaml", ""}, path.Ext(name))
}

var notByHand = regexp.MustCompile(`(^|/)(testdata|bin)/|^applyconfigurations/|^[a-z]+/(crds|client|v[0-9]+((alpha|beta)[0-9]+)?)/|^examples/(install|[a-z]+/rbac|monitoring/(rbac\.yaml|dashboards/))|(^|/)\.|/zz_generated|^(LICENSE|go\.(mod|sum))$`)

// mentions returns the files by hand that name a kind, in its own letters or in lower case, outside its package.
func mentions(files map[string][]byte, kind, home string) (found []string) {
	for name, content := range files {
		if byHand(name) && !strings.HasPrefix(name, home+"/") && (bytes.Contains(content, []byte(kind)) || bytes.Contains(content, []byte(strings.ToLower(kind)))) {
			found = append(found, name)
		}
	}
	return slices.Sorted(slices.Values(found))
}

func TestMentions(t *testing.T) {
	kinds, repository := map[string]bool{}, os.DirFS(root)
	files := contents(t, func(name string) bool { return byHand(name) || path.Base(path.Dir(name)) == "crds" }, func(string) bool { return true })
	for name, content := range files {
		if matched, _ := path.Match("*/crds/*.yaml", name); matched {
			_, rest, _ := strings.Cut(string(content), "\n    kind: ")
			kind, _, _ := strings.Cut(rest, "\n")
			kinds[kind] = true
		}
	}
	file, err := os.Open(limits)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kind, home string
		var limit int
		if _, err := fmt.Sscan(lines.Text(), &kind, &home, &limit); err != nil {
			t.Fatalf("%s: %q: %v", limits, lines.Text(), err)
		}
		if !kinds[kind] {
			t.Errorf("%s: %s is no kind", limits, kind)
		}
		delete(kinds, kind)
		if _, err := fs.Stat(repository, home); err != nil {
			t.Errorf("%s: the package of %s: %v", limits, kind, err)
		}
		switch found := mentions(files, kind, home); {
		case len(found) > limit:
			t.Errorf("%d files outside %s name %s, want at most %d: have a list derived, or an entry in a table of kinds in its place\n%s",
				len(found), home, kind, limit, strings.Join(found, "\n"))
		case len(found) < limit-slack:
			t.Errorf("%d files outside %s name %s: lower the limit of %d in %s", len(found), home, kind, limit, limits)
		}
	}
	for kind := range kinds {
		if found := mentions(files, kind, strings.ToLower(kind)); len(found) > newKind {
			t.Errorf("%d files name %s, want at most %d:\n%s", len(found), kind, newKind, strings.Join(found, "\n"))
		}
	}
}
