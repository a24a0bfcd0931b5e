// SPDX-License-Identifier: Apache-2.0

// Command mutants says what the tests of packages do not see. It makes small changes in their code, one at a time, and runs the
// tests of the package. A change that they do not fail for survives, and is printed. The working tree stays untouched: the
// compiler reads changed files from elsewhere, by the flag -overlay.
//
// It runs in the root of a module:
//
//	mutants -count 300 -seed 1 ./...
//
// All mutants of a package are compiled into one program, which is told at its start which of them it is. Those for which that
// does not work, since it would take types, are compiled alone. One that does not compile even so is replaced by another of its
// package. One that does not end in time counts apart: its loop may be endless, or the machine busy. The sample is the same for the same code, seed, count, packages and files.
//
// A mutant that changes nothing belongs in the file of equivalents, with the reason: it is not run, and counted apart. The
// command fails if a mutant survives.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
)

// The files that decide and write.
const decidingFiles = "plan*.go planner.go apply*.go select.go guard.go"

type options struct {
	count       int
	seed        uint64
	files, also []string
	skip, only  *regexp.Regexp
	equivalents string
	without     string
	wait        time.Duration
	list, idle  bool
	packages    []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	var files, skip, only, also string
	flags := flag.NewFlagSet("mutants", flag.ExitOnError)
	flags.IntVar(&o.count, "count", 300, "how many mutants to plant; 0 means all")
	flags.Uint64Var(&o.seed, "seed", 1, "draws the sample")
	flags.StringVar(&files, "files", decidingFiles, "patterns of the names of the files to change")
	flags.StringVar(&skip, "skip", "", "packages of which no mutants are drawn, a regular expression")
	flags.StringVar(&only, "only", "", "packages of which the sample is run, a regular expression; empty means all")
	flags.StringVar(&also, "also", "", "pairs of a package and another whose tests are about it, as a=b c=d")
	flags.StringVar(&o.equivalents, "equivalents", "", "the file that names mutants which change nothing")
	flags.StringVar(&o.without, "without", "", "tests that are not run, a regular expression as go test -skip takes it: those that take long")
	flags.DurationVar(&o.wait, "wait", time.Minute, "how much longer than without a change the tests may take")
	flags.BoolVar(&o.idle, "idle", false, "print the tests without which the others kill the same mutants")
	flags.BoolVar(&o.list, "list", false, "print the sample and run nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.files, o.also, o.packages = strings.Fields(files), strings.Fields(also), flags.Args()
	var err error
	if skip == "" {
		skip = "$^" // matches no package
	}
	if o.skip, err = regexp.Compile(skip); err != nil {
		return o, fmt.Errorf("-skip: %w", err)
	}
	if o.only, err = regexp.Compile(only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	return o, nil
}

func run(ctx context.Context, o options) error {
	packages, err := load(ctx, o)
	if err != nil {
		return err
	}
	known, err := readEquivalents(o.equivalents)
	if err != nil {
		return err
	}
	draw(packages, o.count, o.seed)

	var report report
	for _, p := range packages {
		if p.drawn == 0 || !o.only.MatchString(p.name) {
			continue
		}
		if o.list {
			for _, m := range p.mutants[:p.drawn] {
				fmt.Println(m)
			}
			continue
		}
		if o.idle {
			if err := p.idle(ctx, known, o); err != nil {
				return err
			}
			continue
		}
		tally, err := p.test(ctx, known, o)
		if err != nil {
			return err
		}
		report = append(report, tally)
	}
	if o.list || o.idle {
		return nil
	}
	fmt.Print(report)
	if survived := report.total().survived; survived > 0 {
		return fmt.Errorf("%d survived: write a test that fails for it, or name it in %s with the reason", survived, o.equivalents)
	}
	return nil
}
