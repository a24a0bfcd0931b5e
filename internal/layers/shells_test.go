// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxShell is how many lines the shell of a kind has at most: what a controller has beside what its kind does is in internal/controller.
const maxShell = 120

// shellFiles are those of a kind's shell.
var shellFiles = []string{"controller.go", "reconciler.go", "options.go", "reader.go", "rules.go", "metrics.go"}

func TestShells(t *testing.T) {
	files := goFiles(t)
	if shells := foldersWith(files, "\ntype Controller = podwright.Controller["); len(shells) < numberOfKinds {
		t.Errorf("%d kinds have a shell, want more", len(shells))
	}
	for _, problem := range shellProblems(files) {
		t.Error(problem)
	}
}

// mayBeKind tells whether a file is in a package of the library that may be the package of a kind.
func mayBeKind(name string) bool {
	return strings.Contains(name, "/") && !strings.HasPrefix(name, "internal/") && !strings.HasPrefix(name, "examples/")
}

// shellProblems lists the packages whose shell is too long.
func shellProblems(files map[string][]byte) (problems []string) {
	lines := map[string]int{}
	for name, source := range files {
		if mayBeKind(name) && slices.Contains(shellFiles, path.Base(name)) {
			lines[path.Dir(name)] += bytes.Count(source, []byte("\n"))
		}
	}
	for kind, n := range lines {
		if n > maxShell {
			problems = append(problems, fmt.Sprintf("the shell of %s has %d lines, want at most %d in %s together", kind, n, maxShell, strings.Join(shellFiles, ", ")))
		}
	}
	slices.Sort(problems)
	return problems
}
