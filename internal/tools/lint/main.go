// SPDX-License-Identifier: Apache-2.0

// Command lint runs the analyzers of go vet and all of staticcheck's over packages, in one pass. What the packages import is read
// and analyzed once instead of twice, which is most of the work while caches are cold. It takes staticcheck's flags, of which
// -checks all asks for every analyzer. With -deep before them it follows values through the functions of other modules too.
package main

import (
	"os"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	command := lintcmd.NewCommand("lint")
	arguments := os.Args[1:]
	deep := len(arguments) > 0 && arguments[0] == "-deep"
	if deep {
		arguments = arguments[1:]
	}
	command.ParseFlags(arguments)
	command.AddBareAnalyzers(vet.Suite...)
	checks := slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, []*lint.Analyzer{unused.Analyzer})
	command.AddAnalyzers(checks...)
	if !deep {
		var all []*analysis.Analyzer
		for _, check := range checks {
			all = append(all, check.Analyzer)
		}
		leaveOthers(all)
	}
	command.Run()
}
