// SPDX-License-Identifier: Apache-2.0

// Command surface lists the exported names of a module that no other package uses, in the packages that it is given. They
// are functions, types, methods, fields, constants and variables. Tests of their own package from outside (package x_test)
// and runnable examples count as users. So do the packages of other modules that are given.
//
//	surface [-v] kept.txt module package...
//
// API types, typed clients and generated code are left out. The first line of kept.txt says how many names may be left without a
// user. Each further line says which, and why: names, which may have stars, a tab, and the reason. A line that begins with "data " is
// about types of which a program is handed values, or hands them in. They, their fields, and what these consist of do not count.
//
// The command fails if there are more names, for a name that no line tells of, and for a line that tells of none. With -v it lists
// all names.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "list all names that have no user")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: surface [-v] kept.txt module package...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 3 {
		flag.Usage()
		os.Exit(2)
	}
	problems, err := check(flag.Arg(0), flag.Arg(1), flag.Args()[2:], *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with the exported names of a module, as far as its packages and others are given.
func check(path, module string, patterns []string, verbose bool) (problems []string, err error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	kept, err := readKept(string(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	loaded, err := load("", module, patterns)
	if err != nil {
		return nil, err
	}
	names, left := loaded.unused(kept.data)
	if verbose {
		fmt.Printf("%d names without a user, and %d of data\n", len(names), left)
		for _, n := range names {
			fmt.Printf("%s\t%s\n", n.text, n.at)
		}
	}
	return kept.problems(path, names), nil
}
