// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// own begins the paths of the packages of this repository.
const own = "github.com/podwright/podwright"

// builder is the name of the analyzer that makes the intermediate code of functions.
const builder = "buildir"

// leaveOthers has analyzers know nothing of the functions of other modules that only their intermediate code tells: whether they
// have no effect, or return nil. To make that code of all that is imported takes a third of the time. The standard library is
// looked at.
func leaveOthers(all []*analysis.Analyzer) {
	seen := map[*analysis.Analyzer]bool{}
	for _, a := range all {
		leave(a, seen)
	}
}

// leave changes an analyzer and those that it requires, and tells whether it reads intermediate code.
func leave(a *analysis.Analyzer, seen map[*analysis.Analyzer]bool) (reads bool) {
	if reads, found := seen[a]; found {
		return reads
	}
	reads = a.Name == builder
	for _, required := range a.Requires {
		reads = leave(required, seen) || reads
	}
	seen[a] = reads
	if a.Name != builder && (!reads || len(a.FactTypes) == 0) {
		return reads
	}
	if a.ResultType != nil && a.Name != builder {
		a.Name += "_own" // results are cached by names
	}
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		if isOthers(pass.Pkg.Path()) {
			return nothing(a.ResultType), nil
		}
		return run(pass)
	}
	return reads
}

// isOthers tells whether a package is of another module, and not of the standard library.
func isOthers(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !strings.HasPrefix(path, own)
}

// nothing is an empty result.
func nothing(of reflect.Type) any {
	switch {
	case of == nil:
		return nil
	case of.Kind() == reflect.Pointer:
		return reflect.New(of.Elem()).Interface()
	}
	return reflect.Zero(of).Interface()
}
