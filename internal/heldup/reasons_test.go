// SPDX-License-Identifier: Apache-2.0

package heldup

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/podwright/podwright/inplace/rollout"
)

// rule matches a constant that is a rule.
var rule = regexp.MustCompile(`(?m)^(?:const |\t)\w+ +(rollout\.)?Rule += "(\w+)"`)

// The list is closed: it has every rule of the repository, each once, and nothing else.
func TestReasons(t *testing.T) {
	listed, found := map[rollout.Rule]int{}, map[rollout.Rule]string{}
	for _, r := range reasons {
		if listed[r.rule]++; listed[r.rule] > 1 || r.Ends == "" {
			t.Errorf("%s is listed %d times, and ends when %q", r.rule, listed[r.rule], r.Ends)
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "examples" || strings.HasPrefix(d.Name(), ".git")) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "" || strings.HasSuffix(filepath.ToSlash(filepath.Dir(path)), "inplace/rollout") {
				found[rollout.Rule(m[2])] = path
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 40 {
		t.Fatalf("found only %d rules", len(found))
	}
	for rule, path := range found {
		if listed[rule] == 0 {
			t.Errorf("%s: rule %s is not in Reasons", path, rule)
		}
	}
	for rule := range listed {
		if found[rule] == "" {
			t.Errorf("Reasons has %s, which is no rule", rule)
		}
	}
}
