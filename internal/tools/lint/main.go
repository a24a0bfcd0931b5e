// SPDX-License-Identifier: Apache-2.0

// Command lint runs the analyzers of go vet and all of staticcheck's over packages, in one pass: what the packages import is read
// and analyzed once instead of twice, which is most of the work while caches are cold. It takes staticcheck's flags, of which
// -checks all asks for every analyzer.
package main

import (
	"os"

	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	command := lintcmd.NewCommand("lint")
	command.ParseFlags(os.Args[1:])
	command.AddBareAnalyzers(vet.Suite...)
	command.AddAnalyzers(simple.Analyzers...)
	command.AddAnalyzers(staticcheck.Analyzers...)
	command.AddAnalyzers(stylecheck.Analyzers...)
	command.AddAnalyzers(unused.Analyzer)
	command.Run()
}
