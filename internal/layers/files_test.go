// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// maxLines is the length that a file should stay below.
const maxLines = 400

// emptyName matches names that say nothing of what is inside.
var emptyName = regexp.MustCompile(`^(utils?|commons?|helpers?|misc)$`)

// fileProblems lists what is wrong with the cut and the names of a Go file.
func fileProblems(name string, source []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var problems []string
	if lines := bytes.Count(source, []byte("\n")); lines >= maxLines {
		problems = append(problems, fmt.Sprintf("%s has %d lines, want less than %d: what is the second thing in it?", name, lines, maxLines))
	}
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
	for what, given := range map[string]string{"file": base, "package": strings.TrimSuffix(file.Name.Name, "_test")} {
		if emptyName.MatchString(given) {
			problems = append(problems, fmt.Sprintf("%s: the %s is called %s: name what it holds", name, what, given))
		}
	}
	return problems, nil
}

// licenseLine is the first line of every Go file, an empty one behind it. What is
// generated has it behind its build constraint.
const licenseLine = "// SPDX-License-Identifier: Apache-2.0\n\n"

// licenseProblems lists what is wrong with the license line of a Go file.
func licenseProblems(name string, source []byte) []string {
	if bytes.HasPrefix(source, []byte("//go:build ")) {
		_, source, _ = bytes.Cut(source, []byte("\n\n"))
	}
	if bytes.HasPrefix(source, []byte(licenseLine)) {
		return nil
	}
	return []string{name + " does not begin with " + licenseLine[:len(licenseLine)-2] + " and an empty line"}
}
