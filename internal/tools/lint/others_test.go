// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/types"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// Packages of other modules have no intermediate code, and no facts are made of it; what needs none looks at all packages.
func TestLeaveOthers(t *testing.T) {
	var ran []string
	analyzer := func(name string, result reflect.Type, facts []analysis.Fact, requires ...*analysis.Analyzer) *analysis.Analyzer {
		return &analysis.Analyzer{Name: name, Requires: requires, FactTypes: facts, ResultType: result, Run: func(pass *analysis.Pass) (any, error) {
			ran = append(ran, name+" "+pass.Pkg.Path())
			return nil, nil
		}}
	}
	code := analyzer(builder, reflect.TypeFor[*int](), nil)
	facts := analyzer("purity", reflect.TypeFor[map[string]int](), []analysis.Fact{nil}, code)
	check := analyzer("SA1000", nil, nil, facts)
	syntax := analyzer("deprecated", nil, []analysis.Fact{nil})
	leaveOthers([]*analysis.Analyzer{check, syntax})
	for _, path := range []string{"strings", "k8s.io/api/core/v1", own + "/inplace"} {
		for _, a := range []*analysis.Analyzer{code, facts, check, syntax} {
			result, err := a.Run(&analysis.Pass{Pkg: types.NewPackage(path, "x")})
			if err != nil || path == "k8s.io/api/core/v1" && a.ResultType != nil && reflect.TypeOf(result) != a.ResultType {
				t.Errorf("%s of %s: %T, %v", a.Name, path, result, err)
			}
		}
	}
	want := []string{"buildir strings", "purity strings", "SA1000 strings", "deprecated strings", "SA1000 k8s.io/api/core/v1", "deprecated k8s.io/api/core/v1",
		"buildir " + own + "/inplace", "purity " + own + "/inplace", "SA1000 " + own + "/inplace", "deprecated " + own + "/inplace"}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}
